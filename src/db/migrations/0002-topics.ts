/** Threads that can be named, closed and joined; how far each agent has read them; who holds an agent's name. */
import type { Migration } from '../migrate.ts'

export const topics: Migration = {
  id: 2,
  name: 'topics',
  up: () => [
    // A thread with a name is a topic: whoever knows the project may join it.
    'ALTER TABLE threads ADD COLUMN name TEXT',
    'ALTER TABLE threads ADD COLUMN name_key TEXT',
    "ALTER TABLE threads ADD COLUMN status TEXT NOT NULL DEFAULT 'open'",
    'ALTER TABLE threads ADD COLUMN closed_at BIGINT',
    'ALTER TABLE threads ADD COLUMN close_reason TEXT',
    'ALTER TABLE threads ADD COLUMN metadata TEXT',
    'CREATE INDEX threads_named ON threads (project_id, name_key, status, id) WHERE name_key IS NOT NULL',
    'CREATE INDEX threads_topics ON threads (project_id, id) WHERE name_key IS NOT NULL',
    "CREATE INDEX threads_deleted ON threads (id) WHERE status = 'deleted'",

    "ALTER TABLE messages ADD COLUMN kind TEXT NOT NULL DEFAULT 'message'",
    'ALTER TABLE messages ADD COLUMN reply_to BIGINT REFERENCES messages (id)',
    'ALTER TABLE messages ADD COLUMN metadata TEXT',
    // A foreign key looks for the rows that refer to a row before it lets it go, and brings no index of its own.
    'CREATE INDEX messages_reply_to ON messages (reply_to) WHERE reply_to IS NOT NULL',
    'CREATE INDEX client_ids_message ON client_ids (message_id)',
    'CREATE UNIQUE INDEX messages_client_id ON messages (thread_id, sender_id, client_id) WHERE client_id IS NOT NULL',

    // floor_seq is what the agent itself said it has read: no undo goes behind it.
    // synced_at and waiting_until tell who is present; joining alone does not count.
    `CREATE TABLE cursors (
      thread_id     BIGINT NOT NULL REFERENCES threads (id),
      agent_id      BIGINT NOT NULL REFERENCES agents (id),
      last_seq      BIGINT NOT NULL,
      scanned_seq   BIGINT NOT NULL,
      floor_seq     BIGINT NOT NULL,
      joined_at     BIGINT NOT NULL,
      synced_at     BIGINT,
      waiting_until BIGINT,
      PRIMARY KEY (thread_id, agent_id)
    )`,

    // Which process or session acts under an agent's name, so that a second one is told.
    `CREATE TABLE name_holders (
      agent_id      BIGINT PRIMARY KEY REFERENCES agents (id),
      holder        TEXT NOT NULL,
      reclaim_token TEXT NOT NULL,
      seen_at       BIGINT NOT NULL
    )`,
    'CREATE INDEX name_holders_holder ON name_holders (holder)',

    // Under which name a session takes part in a thread, for any process that serves the session.
    `CREATE TABLE joins (
      holder    TEXT NOT NULL,
      thread_id BIGINT NOT NULL REFERENCES threads (id),
      agent_id  BIGINT NOT NULL REFERENCES agents (id),
      PRIMARY KEY (holder, thread_id)
    )`,
    'CREATE INDEX joins_thread ON joins (thread_id)',

    'CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)',
    // The version that clients of the bus expect (bus.schema.version). Parley's own is in parley_migrations.
    "INSERT INTO meta (key, value) VALUES ('schema_version', '6')",
  ],
}
