/** Sessions of clients: whose each is, when a hook of it was heard last, and since when a turn of it runs. */
import type { Migration } from '../migrate.ts'

export const clientSessions: Migration = {
  id: 28,
  name: 'client-sessions',
  up: () => [
    // With the agent in the key: naming the session of somebody else takes nothing from its owner.
    `CREATE TABLE client_sessions (
      client     TEXT NOT NULL,
      session    TEXT NOT NULL,
      agent_id   BIGINT NOT NULL,
      bound_at   BIGINT NOT NULL,
      heard_at   BIGINT,
      turn_at    BIGINT,
      stops      INTEGER NOT NULL DEFAULT 0,
      ended      INTEGER NOT NULL DEFAULT 0,
      changed_at BIGINT NOT NULL,
      PRIMARY KEY (client, session, agent_id)
    )`,
    'CREATE INDEX client_sessions_agent ON client_sessions (agent_id, client)',
    'CREATE INDEX client_sessions_changed ON client_sessions (changed_at)',
  ],
}
