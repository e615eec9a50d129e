/** Lists that every page reads after a change: each has few rows of a table that grows. */
import type { Migration } from '../migrate.ts'

export const pageLists: Migration = {
  id: 36,
  name: 'page-lists',
  up: (dialect) => [
    "CREATE INDEX contacts_pending ON contacts (id) WHERE status = 'pending'",
    // PostgreSQL knows how few there are, and would go through them for the leases of one project, too.
    ...(dialect === 'sqlite' ? ['CREATE INDEX leases_held ON leases (released_at, id) WHERE released_at IS NULL'] : []),
    'CREATE INDEX loop_pairs_paused ON loop_pairs (paused_at) WHERE paused_at IS NOT NULL',
  ],
  besideFrom: 35,
}
