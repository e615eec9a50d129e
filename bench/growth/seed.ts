/** Fills a store with agents and messages behind Parley's back: half of them wait in mailboxes, half are mail of a project. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileSeeded } from '../seed.ts'
import { benchProject } from '../seed-mail.ts'

/** The agents of each half that the measurements use; the others are there, and have mail. */
export const measured = 32

export const rareWord = 'quokka'
export const commonWord = 'build'

export interface Crowd {
  readonly messages: number
  readonly agents: number
}

const words = 30_000
const texts = 5000

/** As in a language, the n-th commonest word occurs about 1/n as often as the first: the index has as many words as a real one. */
export function* bodies(length = 210): Generator<string> {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
  const word = () =>
    (Math.floor(words ** random()) * 7919).toString(36).replace(/\d/g, (digit) => 'qrstuvwxyz'.charAt(Number(digit)))
  for (let n = 0; n < texts; n++) {
    let body = `The ${commonWord}`
    while (body.length < length) body += ` ${word()}`
    yield body
  }
}

export function seedCrowd(storage: string, { messages, agents }: Crowd): void {
  const file = join(storage, 'parley.sqlite3')
  const db = new DatabaseSync(file)
  db.exec(`
    PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY;
    CREATE TEMP TABLE texts (n INTEGER PRIMARY KEY, body TEXT);
    BEGIN;
    INSERT INTO projects (slug, human_key, created_at) VALUES ('bench', '${benchProject}', 0);`)
  const text = db.prepare('INSERT INTO texts (body) VALUES (?)')
  for (const body of bodies()) text.run(body)
  for (const [slug, policy] of [
    ['commons', 'open'],
    ['bench', 'auto'],
  ] as const)
    seedHalf(db, { slug, policy, agents: agents / 2, messages: messages / 2 })
  db.exec(`
    INSERT INTO outbox (sender_id, message_id, sent_at) SELECT sender_id, id, created_at FROM messages ORDER BY sender_id, id;
    ${fileSeeded}
    UPDATE agents SET unread = (SELECT COUNT(*) FROM deliveries d WHERE d.recipient_id = agents.id AND d.read_at IS NULL AND d.filed = 1);
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);`)
  db.close()
  // Or the first commit that is measured waits until the disk has all of this.
  const written = openSync(file, 'r+')
  fsyncSync(written)
  closeSync(written)
}

interface Half extends Crowd {
  readonly slug: string
  readonly policy: string
}

/** Half of the messages are for the agents that are measured, and all if there are no others. */
function seedHalf(db: DatabaseSync, { slug, policy, agents, messages }: Half): void {
  const recipient =
    agents > measured
      ? `CASE WHEN i % 2 = 0 THEN i / 2 % ${measured} ELSE ${measured} + i / 2 % ${agents - measured} END`
      : `i % ${agents}`
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${agents - 1})
    INSERT INTO agents (project_id, name, name_key, contact_policy, active_at, created_at)
      SELECT p.id, 'Agent' || i, 'agent' || i, '${policy}', 0, 0 FROM n, projects p WHERE slug = '${slug}';
    CREATE TEMP TABLE half AS SELECT COALESCE((SELECT MAX(id) FROM messages), 0) AS m, p.id AS p,
      (SELECT MIN(id) FROM agents WHERE project_id = p.id AND name_key = 'agent0') AS first
      FROM projects p WHERE slug = '${slug}';
    CREATE TEMP TABLE numbers AS
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${messages}) SELECT i FROM n;
    INSERT INTO threads (id, uid, project_id, next_seq, created_at)
      SELECT m + i, '${slug}-' || i, p, 2, 1750000000000 + i FROM numbers, half;
    INSERT INTO messages (id, uid, thread_id, seq, sender_id, subject, body, created_at)
      SELECT m + i, '${slug}-' || i, m + i, 1, first + i * 7 % ${agents}, 'Message ' || i,
        body || CASE WHEN i % ${messages / 25} = 0 THEN ' ${rareWord}' ELSE '' END, 1750000000000 + i
      FROM numbers, half JOIN texts ON texts.n = 1 + i * 31 % ${texts};
    INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, filed)
      SELECT m + i, first + ${recipient}, 'to', 1750000000000 + i, 1 FROM numbers, half;
    DROP TABLE numbers; DROP TABLE half;`)
}
