/** What the name of an agent looks like: no other of its project gets a name that is taken for it. */
import sql from 'sql-template-tag'
import { lookOf } from '../../base/confusables.ts'
import type { Migration } from '../migrate.ts'

/** Of stored names that look alike only the first has a look: all of them stay as they are. */
export const looks: Migration = {
  id: 19,
  name: 'looks',
  up: () => ['ALTER TABLE agents ADD COLUMN look TEXT', 'CREATE UNIQUE INDEX agents_look ON agents (project_id, look)'],
  async finish(tx) {
    const rows = await tx.all<{ id: number; project_id: number; name: string }>(
      sql`SELECT id, project_id, name FROM agents ORDER BY id`,
    )
    const taken = new Set<string>()
    for (const { id, project_id, name } of rows) {
      const look = lookOf(name)
      const seen = `${project_id}/${look}`
      if (taken.has(seen)) continue
      taken.add(seen)
      await tx.all(sql`UPDATE agents SET look = ${look} WHERE id = ${id}`)
    }
  },
}
