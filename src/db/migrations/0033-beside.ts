/** Which older nodes can run beside a migration, kept where those nodes look: in the table of migrations. */
import type { Migration } from '../migrate.ts'

export const beside: Migration = {
  id: 33,
  name: 'beside',
  up: () => ['ALTER TABLE parley_migrations ADD COLUMN beside_from BIGINT'],
}
