/** The archive's index: the leases on one pattern. */
import type { Migration } from '../migrate.ts'

export const archive: Migration = {
  id: 8,
  name: 'archive',
  up: () => ['CREATE INDEX leases_pattern ON leases (project_id, pattern, id)'],
}
