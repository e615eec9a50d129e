/** Fills a store for the pages behind Parley's back: mail of many projects, long threads, leases, bodies made to be slow. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { bodies } from './growth/seed.ts'
import { fileSeeded, fillStore } from './seed.ts'
import { benchProject, seedLeases } from './seed-mail.ts'
import { startParley } from './server.ts'

const projects = 20
const agentsEach = 100
const leasesEach = 500
const days = 30

/** One message of eight is for the first agent of its project: its inbox fills a page also where there are few. */
export const busyAgent = 'Agent0'

/** A thread has five messages; these have a thousand. */
export const longThread = (number: number): string => `LONG-${number}`

/** The texts that markdown-it takes longest for, below the size that is rendered at all, and above it. */
const slow: readonly string[] = [
  '**a*'.repeat(16_000),
  '[a]('.repeat(16_000),
  '>'.repeat(60_000),
  '- '.repeat(30_000),
  '![[]()'.repeat(10_000),
  '*'.repeat(1_000_000),
]
export const slowThread = 'SLOW'

export const projectKey = (number: number): string => (number === 0 ? benchProject : `${benchProject}-${number}`)

export interface PagesStore {
  readonly messages: number
  readonly longThreads: number
}

/** A store that Parley has made, then filled; the last message is of now, the first of a month ago. */
export async function seedPages(storage: string, { messages, longThreads }: PagesStore): Promise<string> {
  await (await startParley(storage)).stop()
  fillStore(storage, (db) => {
    db.exec(`
      CREATE TEMP TABLE texts (n INTEGER PRIMARY KEY, body TEXT);
      ${numbers('projects_n', projects)}
      INSERT INTO projects (slug, human_key, created_at)
        SELECT CASE i WHEN 0 THEN 'bench' ELSE 'bench-' || i END, CASE i WHEN 0 THEN '${benchProject}' ELSE '${benchProject}-' || i END, 0
        FROM projects_n;
      ${numbers('agents_n', agentsEach)}
      INSERT INTO agents (project_id, name, name_key, contact_policy, active_at, created_at)
        SELECT p.id, 'Agent' || i, 'agent' || i, 'auto', 0, 0 FROM projects p, agents_n WHERE p.slug LIKE 'bench%' ORDER BY p.id, i;
      CREATE TEMP TABLE place AS SELECT MIN(p.id) AS p, MIN(a.id) AS a FROM projects p JOIN agents a ON a.project_id = p.id;`)
    const text = db.prepare('INSERT INTO texts (body) VALUES (?)')
    for (const body of bodies(70)) text.run(body)
    const { count } = db.prepare('SELECT COUNT(*) AS count FROM texts').get() as { count: number }
    const first = Date.now() - days * 86_400_000
    const sentAt = `CAST(${first} + i * ${(days * 86_400_000) / messages} AS INTEGER)`
    const [project, line] = [`(i % ${projects})`, `(i / ${projects})`]
    // Of each hundred messages in a row every project has five, which are a thread.
    const thread = `(i / ${5 * projects} * ${projects} + ${project} + 1)`
    db.exec(`
      ${numbers('numbers', messages)}
      INSERT INTO threads (id, uid, project_id, next_seq, created_at)
        SELECT ${thread}, printf('seed-%08d', ${thread}), p + ${project}, 6, MIN(${sentAt}) FROM numbers, place GROUP BY 1;
      INSERT INTO messages (id, uid, thread_id, seq, sender_id, subject, importance, ack_required, body, created_at)
        SELECT i + 1, printf('seed-%08d', i), ${thread}, ${line} % 5 + 1, a + ${project} * ${agentsEach} + ${line} * 7 % ${agentsEach}, 'Message ' || i,
          CASE WHEN i % 997 = 0 THEN 'urgent' ELSE 'normal' END, i % 499 = 0, body, ${sentAt}
        FROM numbers, place JOIN texts ON texts.n = 1 + i * 31 % ${count};
      INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, read_at, urgent, ack_wanted, filed)
        SELECT i + 1, a + ${project} * ${agentsEach}
          + CASE WHEN ${line} % 8 = 0 THEN 0 ELSE (${line} * 7 + 1 + i % 5) % ${agentsEach} END, 'to', ${sentAt},
          CASE WHEN i % 10 = 0 THEN NULL ELSE ${sentAt} END, i % 997 = 0, i % 499 = 0, 1 FROM numbers, place;`)
    seedThreads(db, longThreads)
    db.exec(`
      INSERT INTO outbox (sender_id, message_id, sent_at) SELECT sender_id, id, created_at FROM messages ORDER BY sender_id, id;
      ${fileSeeded}
      UPDATE agents SET unread = unseen.count
        FROM (SELECT recipient_id, COUNT(*) AS count FROM deliveries WHERE read_at IS NULL GROUP BY 1) AS unseen
        WHERE agents.id = unseen.recipient_id;
      DELETE FROM followers WHERE name = 'activity'`)
  })
  seedLeases(storage, leasesEach)
  // Or the first commit that is measured waits until the disk has all of this.
  const written = openSync(join(storage, 'parley.sqlite3'), 'r+')
  fsyncSync(written)
  closeSync(written)
  return storage
}

const numbers = (table: string, count: number): string => `
  CREATE TEMP TABLE ${table} AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1}) SELECT i FROM n;`

/** Every body of these is another, and has some Markdown: nothing of them is in a cache. */
function seedThreads(db: DatabaseSync, longThreads: number): void {
  const { p, a } = db.prepare('SELECT p, a FROM place').get() as { p: number; a: number }
  const now = Date.now()
  const makeThread = db.prepare(
    'INSERT INTO threads (uid, key, project_id, next_seq, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
  )
  const makeMessage = db.prepare(
    'INSERT INTO messages (uid, thread_id, seq, sender_id, subject, body, created_at) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id',
  )
  const deliver = db.prepare(
    "INSERT INTO deliveries (message_id, recipient_id, kind, sent_at, read_at, filed) VALUES (?, ?, 'to', ?, ?, 1)",
  )
  const write = (key: string, texts: readonly string[]): void => {
    const { id } = makeThread.get(`seed-${key}`, key, p, texts.length + 1, now) as { id: number }
    for (const [n, body] of texts.entries()) {
      const said = makeMessage.get(`seed-${key}-${n}`, id, n + 1, a + (n % 5), `Long talk ${key}`, body, now) as {
        id: number
      }
      deliver.run(said.id, a + ((n + 1) % 5), now, now)
    }
  }
  write(slowThread, slow)
  for (let n = 0; n < longThreads; n++)
    write(
      longThread(n),
      Array.from(
        { length: 1000 },
        (_, m) =>
          `Step **${m}** of ${n}:\n\n- [x] \`src/part${m}.ts\`\n- the *rest*\n\n\`\`\`ts\nconst a = ${m}\n\`\`\`\n\nSee <https://example.com/${n}/${m}>.`,
      ),
    )
}
