/** The scopes that all messages of a part of the search index are in. */
import type { Migration } from '../migrate.ts'

/** Of parts that are there already nothing is known: they are asked as before, until the index is made anew. */
export const scopes: Migration = {
  id: 14,
  name: 'scopes',
  up: (dialect) =>
    dialect === 'sqlite' ? [`ALTER TABLE search_parts ADD COLUMN scopes TEXT NOT NULL DEFAULT ''`] : [],
}
