/** Fills the mailboxes of the bench's readers on PostgreSQL by SQL, so that a bench of pops does not find them empty. */
import { Client } from 'pg'
import { text } from './text.ts'

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
    await client.query('ANALYZE')
  } finally {
    await client.end()
  }
}
