/** Fills a PostgreSQL for the bench by SQL: mailboxes, so that a bench of pops does not find them empty, and the agents of a project. */
import { Client } from 'pg'
import { agentOf, benchAgents, benchProject } from './seed-mail.ts'
import { text } from './text.ts'

/** An empty database of its own; returns its URL. */
export async function makeDatabase(server: string, name: string): Promise<string> {
  const client = new Client(server)
  await client.connect()
  await client.query(`CREATE DATABASE bench_${name}`)
  await client.end()
  const url = new URL(server)
  url.pathname = `bench_${name}`
  return url.href
}

/** `each` messages for every agent called reader-<n>, from sender-0. Both have to be there. */
export async function fillMailboxes(database: string, each: number): Promise<void> {
  const client = new Client(database)
  await client.connect()
  try {
    await client.query(
      `WITH places AS (
         SELECT r.id AS reader, s.id AS sender, s.project_id, gen_random_uuid()::text AS uid
         FROM agents r JOIN agents s ON s.name = 'sender-0', generate_series(1, $1) n WHERE r.name LIKE 'reader-%'),
       begun AS (
         INSERT INTO threads (uid, project_id, next_seq, created_at) SELECT uid, project_id, 2, 0 FROM places RETURNING id, uid),
       sent AS (
         INSERT INTO messages (thread_id, seq, uid, sender_id, body, created_at)
         SELECT begun.id, 1, uid, sender, $2, 0 FROM places JOIN begun USING (uid) RETURNING id, uid),
       delivered AS (
         INSERT INTO deliveries (message_id, recipient_id, sent_at) SELECT sent.id, reader, 0 FROM places JOIN sent USING (uid))
       UPDATE agents SET unread = unread + $1 WHERE name LIKE 'reader-%'`,
      [each, text],
    )
    // They would have been indexed long ago: otherwise that is done beside what is measured.
    await client.query('DELETE FROM search_pending')
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}

/** The project of the mail that is measured, and its agents. */
export async function makeAgents(database: string): Promise<void> {
  const client = new Client(database)
  await client.connect()
  try {
    await client.query(
      `WITH made AS (INSERT INTO projects (slug, human_key, created_at) VALUES ('bench', $1, 0) RETURNING id)
       INSERT INTO agents (project_id, name, name_key, contact_policy, created_at)
       SELECT made.id, name, LOWER(name), 'auto', 0 FROM made, unnest($2::text[]) AS name`,
      [benchProject, Array.from({ length: benchAgents }, (_, n) => agentOf(n))],
    )
  } finally {
    await client.end()
  }
}
