/** Lists that every page reads after a change: each has few rows of a table that grows. */
import type { Migration } from '../migrate.ts'

export const pageLists: Migration = {
  id: 36,
  name: 'page-lists',
  up: () => [
    "CREATE INDEX contacts_pending ON contacts (id) WHERE status = 'pending'",
    'CREATE INDEX loop_pairs_paused ON loop_pairs (paused_at) WHERE paused_at IS NOT NULL',
  ],
  besideFrom: 35,
}
