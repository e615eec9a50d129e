/** How often a delivery was lent: mail that comes back too often is dead, and found again by people. */
import type { Migration } from '../migrate.ts'

export const attempts: Migration = {
  id: 27,
  name: 'attempts',
  up: () => [
    // NULL until it is lent for the first time: a plain pop writes nothing more.
    'ALTER TABLE deliveries ADD COLUMN attempts INTEGER',
    "CREATE INDEX deliveries_dead ON deliveries (message_id) WHERE ended = 'dead'",
  ],
}
