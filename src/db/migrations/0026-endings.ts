/** Mail that leaves the mailbox unread: when it expires, and how it ended. */
import type { Migration } from '../migrate.ts'

export const endings: Migration = {
  id: 26,
  name: 'endings',
  up: () => [
    'ALTER TABLE deliveries ADD COLUMN expires_at BIGINT',
    // `expired`: read_at is then the time at which it left the mailbox, and nobody has read it.
    'ALTER TABLE deliveries ADD COLUMN ended TEXT',
    // Of messages with a time to live alone: the others cost it nothing.
    'CREATE INDEX deliveries_expiry ON deliveries (expires_at) WHERE expires_at IS NOT NULL AND read_at IS NULL',
  ],
}
