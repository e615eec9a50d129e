/** Inboxes and outboxes that are filed behind the sends: what is new stands in a small index, or in none, until then. */
import type { Migration } from '../migrate.ts'

export const boxes: Migration = {
  id: 7,
  name: 'boxes',
  up: (dialect) => ['DROP INDEX messages_sender', ...statements[dialect]],
}

const statements = {
  // Each agent's rows lie on pages of their own: 64 sends wrote 135 to 150 pages of these two indexes alone. In bulk one
  // page takes many rows.
  sqlite: [
    // NULL until the delivery is filed.
    'ALTER TABLE deliveries ADD COLUMN filed INTEGER',
    'UPDATE deliveries SET filed = 1',
    'DROP INDEX deliveries_inbox',
    'CREATE INDEX deliveries_unfiled ON deliveries (recipient_id, message_id, sent_at) WHERE filed IS NULL',
    'CREATE INDEX deliveries_inbox ON deliveries (recipient_id, message_id, sent_at) WHERE filed = 1',
    `CREATE TABLE outbox (
      sender_id  BIGINT NOT NULL,
      message_id BIGINT NOT NULL,
      sent_at    BIGINT NOT NULL,
      PRIMARY KEY (sender_id, message_id)
    ) WITHOUT ROWID`,
    'INSERT INTO outbox SELECT sender_id, id, created_at FROM messages WHERE mail = 1 ORDER BY sender_id, id',
    // One row: all messages up to this id are filed. Ids are in the order of the commits, for there is one writer at a time.
    'CREATE TABLE outbox_filed (up_to BIGINT NOT NULL)',
    'INSERT INTO outbox_filed SELECT COALESCE(MAX(id), 0) FROM messages',
  ],
  // PostgreSQL writes rows, not pages: its indexes are kept at once. An outbox is in the order of the ids there, too.
  postgres: ['CREATE INDEX messages_sender ON messages (sender_id, id, created_at) WHERE mail = 1'],
}
