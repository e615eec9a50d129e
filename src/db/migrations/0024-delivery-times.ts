/** How far a message has come on its way: when a pointer to it was accepted, by which route, and when its text went out. */
import type { Migration } from '../migrate.ts'

export const deliveryTimes: Migration = {
  id: 24,
  name: 'delivery-times',
  up: () => [
    'ALTER TABLE deliveries ADD COLUMN offered_at BIGINT',
    'ALTER TABLE deliveries ADD COLUMN offered_via TEXT',
    'ALTER TABLE deliveries ADD COLUMN delivered_at BIGINT',
  ],
}
