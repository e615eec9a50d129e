/** Keys of agents, the origin of a contact, a feed that can be followed, and inboxes in the order of their commits. */
import type { Migration } from '../migrate.ts'

export const callers: Migration = {
  id: 5,
  name: 'callers',
  up: (dialect) => [
    // An agent that was ever given a key is its owner's: without the key nobody but the operator acts as it.
    'ALTER TABLE agents ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0',
    // Only the hash is kept: a key is shown once.
    `CREATE TABLE agent_keys (
      hash       TEXT PRIMARY KEY,
      agent_id   BIGINT NOT NULL REFERENCES agents (id),
      created_at BIGINT NOT NULL
    )`,
    'CREATE INDEX agent_keys_agent ON agent_keys (agent_id)',
    // Whether anybody has a key at all is asked by readers of threads.
    'CREATE INDEX agents_keyed ON agents (id) WHERE keyed = 1',

    // Whether somebody asked for the contact, or it was made automatically by a send.
    "ALTER TABLE contacts ADD COLUMN origin TEXT NOT NULL DEFAULT 'asked'",
    "UPDATE contacts SET origin = 'automatic' WHERE reason = ''",

    // An inbox is in the order of its commits, which is that of the ids: a send locks its recipients before it takes one.
    // The order of sent_at hung on clocks. It is still in the index, where a filter by time reads it: 7 ms for
    // 100,000 messages instead of 30. Of two indexes that would do, SQLite takes the one made last: the smaller come after.
    ...['inbox', 'urgent', 'urgent_unread', 'unacked'].map((part) => `DROP INDEX deliveries_${part}`),
    'CREATE INDEX deliveries_inbox ON deliveries (recipient_id, message_id, sent_at)',
    'CREATE INDEX deliveries_urgent ON deliveries (recipient_id, message_id, sent_at) WHERE urgent = 1',
    `CREATE INDEX deliveries_urgent_unread ON deliveries (recipient_id, message_id, sent_at)
      WHERE urgent = 1 AND read_at IS NULL`,
    `CREATE INDEX deliveries_unacked ON deliveries (recipient_id, message_id, sent_at)
      WHERE ack_wanted = 1 AND acked_at IS NULL`,

    // Unread blind copies, which nobody else may count. Other mail is not in it, and costs a send nothing.
    "CREATE INDEX deliveries_blind ON deliveries (recipient_id) WHERE kind = 'bcc' AND read_at IS NULL",

    // Nobody followed the feed before this: what is in it lacks the ids that followers need.
    emptyFeed[dialect],
    "ALTER TABLE changes ADD COLUMN actor TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE changes ADD COLUMN lease_id BIGINT',
    'ALTER TABLE changes ADD COLUMN contact_id BIGINT',
    ...(dialect === 'sqlite' ? [] : orderOfCommits),

    // How far each follower of the feed has come: what all of them have passed can go.
    `CREATE TABLE followers (
      name      TEXT PRIMARY KEY,
      tx        BIGINT NOT NULL,
      change_id BIGINT NOT NULL,
      seen_at   BIGINT NOT NULL
    )`,
  ],
}

/** Agents stay locked until the end of this: deleting each row of a feed that was never pruned could take minutes. */
const emptyFeed = { sqlite: 'DELETE FROM changes', postgres: 'TRUNCATE changes' }

/**
 * On SQLite the ids are in the order of the commits, for there is one writer at a time. PostgreSQL takes ids before the
 * commit: a row keeps the id of its transaction, and a follower reads only those that no open transaction can precede.
 */
const orderOfCommits = [
  'ALTER TABLE changes ADD COLUMN tx BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint)',
  'CREATE INDEX changes_order ON changes (tx, id)',
]
