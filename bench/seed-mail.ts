/** Fills a project with agents and their mail behind Parley's back: a million messages by calls would take minutes. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileSeeded, fillStore } from './seed.ts'
import { text } from './text.ts'

export const benchProject = '/srv/bench'
export const benchAgents = 64

export const agentOf = (number: number): string => `Agent${number % benchAgents}`

/** `counts` says how many messages each agent has in its inbox: the first agent's, the second's …; those not named have none. */
export function seedMail(storage: string, counts: readonly number[]): void {
  fillStore(storage, (db) => {
    db.exec(`INSERT INTO projects (slug, human_key, created_at) VALUES ('bench', '${benchProject}', 0)`)
    for (let n = 0; n < benchAgents; n++)
      db.exec(`INSERT INTO agents (project_id, name, name_key, contact_policy, unread, active_at, created_at)
        SELECT id, 'Agent${n}', 'agent${n}', 'auto', ${counts[n] ?? 0}, 0, 0 FROM projects WHERE slug = 'bench'`)
    for (const [n, count] of counts.entries())
      db.exec(`
        CREATE TEMP TABLE run AS SELECT COALESCE((SELECT MAX(id) FROM messages), 0) AS m, p.id AS p,
          (SELECT id FROM agents WHERE project_id = p.id AND name = 'Agent${n}') AS a,
          (SELECT MIN(id) FROM agents WHERE project_id = p.id) AS first
          FROM projects p WHERE slug = 'bench';
        CREATE TEMP TABLE numbers AS
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n;
        INSERT INTO threads (id, uid, project_id, next_seq, created_at)
          SELECT m + i + 1000, printf('seed-%08d', m + i), p, 2, 1750000000000 + i FROM numbers, run;
        INSERT INTO messages (id, uid, thread_id, seq, sender_id, subject, body, created_at)
          SELECT m + i, printf('seed-%08d', m + i), m + i + 1000, 1, first + (i % ${benchAgents}), 'Message ' || i, '${text}', 1750000000000 + i
          FROM numbers, run;
        INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, filed)
          SELECT m + i, a, 'to', 1750000000000 + i, 1 FROM numbers, run;
        DROP TABLE numbers; DROP TABLE run;`)
    db.exec(`
      INSERT INTO outbox (sender_id, message_id, sent_at) SELECT sender_id, id, created_at FROM messages ORDER BY sender_id, id;
      ${fileSeeded}`)
  })
}

/** Marks all mail as indexed, for stores in which nobody searches: indexing a million messages takes a minute and a half. */
export function leaveUnsearched(storage: string): void {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'))
  db.exec(
    "CREATE VIRTUAL TABLE search_1 USING fts5(subject, body, sender, thread, scope, content='', tokenize='ascii')",
  )
  // A part that is full: the next message begins another.
  db.exec('INSERT INTO search_parts (part, last_id, words, merged) SELECT 1, MAX(id), 1000000000, 1 FROM messages')
  db.close()
}

/** Leases of one agent, one on each of so many files. */
export function seedLeases(storage: string, count: number): void {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'))
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO leases (project_id, agent_id, pattern, prefix, exclusive, reason, created_at, expires_at)
      SELECT a.project_id, a.id, 'src/part' || (i % 100) || '/file' || i || '.ts', 'src/part' || (i % 100) || '/file' || i || '.ts',
        1, '', 0, 9000000000000
      FROM n, agents a WHERE a.name = 'Agent63'`)
  db.close()
}
