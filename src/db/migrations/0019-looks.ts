/** The look of an agent's name: no other agent of its project gets a name that could be mistaken for it. */
import sql, { join, type Sql } from 'sql-template-tag'
import { lookOf } from '../../base/confusables.ts'
import type { Migration } from '../migrate.ts'

const rowsPerStatement = 1000

/** Of stored names that look alike only the first has a look: all of them stay as they are. */
export const looks: Migration = {
  id: 19,
  name: 'looks',
  up: () => ['ALTER TABLE agents ADD COLUMN look TEXT', 'CREATE UNIQUE INDEX agents_look ON agents (project_id, look)'],
  async finish(tx) {
    const rows = await tx.all<{ id: number; project_id: number; name: string }>(
      sql`SELECT id, project_id, name FROM agents ORDER BY id`,
    )
    const first = new Map<string, Sql>()
    for (const { id, project_id, name } of rows) {
      const look = lookOf(name)
      const key = `${project_id}/${look}`
      if (!first.has(key)) first.set(key, sql`(CAST(${id} AS BIGINT), ${look})`)
    }
    const pairs = [...first.values()]
    for (let from = 0; from < pairs.length; from += rowsPerStatement)
      await tx.all(sql`
        UPDATE agents SET look = named.column2
        FROM (VALUES ${join(pairs.slice(from, from + rowsPerStatement))}) AS named WHERE id = named.column1`)
  },
}
