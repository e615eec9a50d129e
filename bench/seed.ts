/** Fills a mailbox with unread messages behind Parley's back: a million by calls would take minutes. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Runs `fill` on the file of a store that nobody has open, without a journal. The rows are trusted to fit together. */
export function fillStore(storage: string, fill: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'), { enableForeignKeyConstraints: false })
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY;
    PRAGMA locking_mode = EXCLUSIVE; BEGIN`)
  fill(db)
  db.exec('COMMIT; PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL')
  db.close()
}

/** Seeded mail counts as filed: what a server files behind its sends (store/mail/boxes.ts) stands where it would put it. */
export const fileSeeded = `
  INSERT INTO project_box (project_id, message_id, sender_id, importance, home)
    SELECT t.project_id, m.id, m.sender_id, m.importance, 1 FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id > (SELECT up_to FROM outbox_filed) ORDER BY 1, 2;
  INSERT INTO thread_box (thread_id, project_id, last_id)
    SELECT t.id, t.project_id, MAX(m.id) FROM messages m JOIN threads t ON t.id = m.thread_id
    WHERE m.id > (SELECT up_to FROM outbox_filed) GROUP BY t.id
    ON CONFLICT (thread_id) DO UPDATE SET last_id = excluded.last_id;
  UPDATE outbox_filed SET up_to = (SELECT MAX(id) FROM messages);`

export function seed(storage: string, agent: string, count: number): void {
  const rows = `
    INSERT INTO agents (project_id, name, name_key, unread, created_at)
      SELECT id, '${agent}', '${agent}', ${count}, 0 FROM projects WHERE slug = 'commons';
    CREATE TEMP TABLE run AS
      SELECT (SELECT COALESCE(MAX(id), 0) FROM threads) AS t, (SELECT COALESCE(MAX(id), 0) FROM messages) AS m,
             (SELECT id FROM agents WHERE name = '${agent}') AS a, (SELECT id FROM projects WHERE slug = 'commons') AS p;
    CREATE TEMP TABLE numbers AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n;
    INSERT INTO threads (id, uid, project_id, next_seq, created_at)
      SELECT t + i, printf('${agent}-%08d', i), p, 2, 0 FROM numbers, run;
    INSERT INTO messages (id, uid, thread_id, seq, sender_id, body, created_at)
      SELECT m + i, printf('${agent}-%08d', i), t + i, 1, a, 'message ' || i || ' that waits with many others to be read', 0 FROM numbers, run;
    INSERT INTO deliveries (message_id, recipient_id, sent_at, filed) SELECT m + i, a, 0, 1 FROM numbers, run;
    INSERT INTO outbox (sender_id, message_id, sent_at) SELECT sender_id, id, created_at FROM messages, run WHERE id > m;
    ${fileSeeded}
    DROP TABLE numbers; DROP TABLE run;`
  fillStore(storage, (db) => db.exec(rows))
}
