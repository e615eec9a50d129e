/** Mail for coding agents: profiles and policies, subjects and receipts, contacts, leases. */
import { bytewise, identity } from '../dialect.ts'
import type { Migration } from '../migrate.ts'

export const mail: Migration = {
  id: 4,
  name: 'mail',
  up: (dialect) => [
    "ALTER TABLE agents ADD COLUMN program TEXT NOT NULL DEFAULT 'unknown'",
    "ALTER TABLE agents ADD COLUMN model TEXT NOT NULL DEFAULT 'unknown'",
    "ALTER TABLE agents ADD COLUMN task TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE agents ADD COLUMN contact_policy TEXT NOT NULL DEFAULT 'open'",
    'ALTER TABLE agents ADD COLUMN active_at BIGINT NOT NULL DEFAULT 0',
    'UPDATE agents SET active_at = created_at',

    // key is the name that mail gives a thread; one without goes by the id of its first message.
    'ALTER TABLE threads ADD COLUMN key TEXT',
    'CREATE UNIQUE INDEX threads_key ON threads (key, project_id) WHERE key IS NOT NULL',

    'ALTER TABLE messages ADD COLUMN subject TEXT',
    "ALTER TABLE messages ADD COLUMN importance TEXT NOT NULL DEFAULT 'normal'",
    'ALTER TABLE messages ADD COLUMN ack_required INTEGER NOT NULL DEFAULT 0',
    // 0 for what is said in topics: it is in no outbox, and need not pay for the index of one.
    'ALTER TABLE messages ADD COLUMN mail INTEGER NOT NULL DEFAULT 1',
    'UPDATE messages SET mail = 0 WHERE thread_id IN (SELECT id FROM threads WHERE name IS NOT NULL)',
    'CREATE INDEX messages_sender ON messages (sender_id, created_at, id) WHERE mail = 1',

    // A message that another project than its thread's may see, because one of its agents sent or openly received it.
    // thread_id repeats what the message says, so that one thread is found among all that a project is a guest of.
    `CREATE TABLE message_guests (
      project_id BIGINT NOT NULL REFERENCES projects (id),
      thread_id  BIGINT NOT NULL,
      message_id BIGINT NOT NULL REFERENCES messages (id),
      PRIMARY KEY (project_id, thread_id, message_id)
    )`,
    'CREATE INDEX message_guests_message ON message_guests (message_id)',

    // sent_at, urgent and ack_wanted repeat what the message says, so that an inbox is read from an index of its own.
    // Where two of the same columns would do, SQLite takes the one made last: the smaller comes after the larger.
    "ALTER TABLE deliveries ADD COLUMN kind TEXT NOT NULL DEFAULT 'to'",
    'ALTER TABLE deliveries ADD COLUMN sent_at BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE deliveries ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE deliveries ADD COLUMN ack_wanted INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE deliveries ADD COLUMN acked_at BIGINT',
    'ALTER TABLE deliveries ADD COLUMN escalated_at BIGINT',
    'UPDATE deliveries SET sent_at = (SELECT m.created_at FROM messages m WHERE m.id = deliveries.message_id)',
    'CREATE INDEX deliveries_inbox ON deliveries (recipient_id, sent_at, id)',
    'CREATE INDEX deliveries_urgent ON deliveries (recipient_id, sent_at, id) WHERE urgent = 1',
    `CREATE INDEX deliveries_urgent_unread ON deliveries (recipient_id, sent_at, id)
      WHERE urgent = 1 AND read_at IS NULL`,
    'CREATE INDEX deliveries_unacked ON deliveries (recipient_id, sent_at, id) WHERE ack_wanted = 1 AND acked_at IS NULL',
    `CREATE INDEX deliveries_overdue ON deliveries (sent_at)
      WHERE ack_wanted = 1 AND acked_at IS NULL AND escalated_at IS NULL`,

    // An approved contact holds both ways until it expires.
    `CREATE TABLE contacts (
      id         ${identity(dialect)},
      from_id    BIGINT NOT NULL REFERENCES agents (id),
      to_id      BIGINT NOT NULL REFERENCES agents (id),
      status     TEXT NOT NULL,
      reason     TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      expires_at BIGINT,
      UNIQUE (from_id, to_id)
    )`,
    'CREATE INDEX contacts_to ON contacts (to_id)',

    // prefix is the part of the pattern before its first wildcard: only a lease whose prefix leads to another's can overlap it.
    `CREATE TABLE leases (
      id          ${identity(dialect)},
      project_id  BIGINT NOT NULL REFERENCES projects (id),
      agent_id    BIGINT NOT NULL REFERENCES agents (id),
      pattern     TEXT NOT NULL,
      prefix      TEXT ${bytewise(dialect)} NOT NULL,
      exclusive   INTEGER NOT NULL,
      reason      TEXT NOT NULL,
      created_at  BIGINT NOT NULL,
      expires_at  BIGINT NOT NULL,
      released_at BIGINT
    )`,
    'CREATE INDEX leases_open ON leases (project_id, prefix, id) WHERE released_at IS NULL',
    'CREATE INDEX leases_due ON leases (expires_at) WHERE released_at IS NULL',
    'CREATE INDEX leases_agent ON leases (agent_id, expires_at) WHERE released_at IS NULL',
    'CREATE INDEX leases_project ON leases (project_id, id)',
    'CREATE INDEX leases_active ON leases (project_id, id) WHERE released_at IS NULL',
    'CREATE INDEX leases_ending ON leases (project_id, expires_at, id) WHERE released_at IS NULL',

    // Which process does a piece of housekeeping, and until when it may; another takes over from one that died.
    `CREATE TABLE chores (
      name       TEXT PRIMARY KEY,
      holder     TEXT NOT NULL,
      held_until BIGINT NOT NULL,
      done_at    BIGINT
    )`,

    // The old index knows neither the projects that see a message nor the name of its thread: it is filled anew.
    dialect === 'sqlite'
      ? 'DELETE FROM search_parts'
      : 'INSERT INTO search_pending (message_id) SELECT id FROM messages ON CONFLICT DO NOTHING',
  ],
}
