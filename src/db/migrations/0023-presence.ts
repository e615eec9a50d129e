/** The waiters of each node: other processes read them, and a node that died takes its waiters with it. */
import type { Migration } from '../migrate.ts'

export const presence: Migration = {
  id: 23,
  name: 'presence',
  up: () => [
    // One expiry a node, renewed while it has waiters: a waiter itself writes nothing while it waits.
    'CREATE TABLE presence_nodes (node TEXT PRIMARY KEY, expires_at BIGINT NOT NULL)',
    // kind: a call or stream (`call`), or a waiter that wakes an idle client (`waiter`), which has a session and an adapter.
    `CREATE TABLE presence (
      node     TEXT NOT NULL,
      agent_id BIGINT NOT NULL,
      kind     TEXT NOT NULL,
      session  TEXT NOT NULL,
      via      TEXT NOT NULL,
      since    BIGINT NOT NULL,
      PRIMARY KEY (node, agent_id, kind, session)
    )`,
  ],
}
