/** Names that look alike are one name: the keys that stored names are compared by are made anew. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { limits } from '../../base/limits.ts'
import { isReserved, nameKey } from '../../base/names.ts'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../port.ts'

export const names: Migration = {
  id: 6,
  name: 'names',
  up: () => [],
  async finish(tx) {
    await renewAgents(tx)
    await renewTopics(tx)
  },
}

/** The key of a plain name is what it was, unless it is a spelling of the reserved one. */
const perhapsStale: Sql = raw("(octet_length(name) <> length(name) OR name_key LIKE '%h%u%m%a%n%o%v%e%r%s%e%e%r%')")

/** An agent whose name now is another's, or that of people, keeps its mail and gets a number. */
async function renewAgents(tx: Tx): Promise<void> {
  const rows = await tx.all<{ id: number; project_id: number; name: string; name_key: string }>(
    sql`SELECT id, project_id, name, name_key FROM agents WHERE ${perhapsStale} ORDER BY id`,
  )
  for (const { id, project_id, name, name_key } of rows) {
    let called = name
    const isTaken = async () => {
      const found = await tx.all(
        sql`SELECT 1 FROM agents WHERE project_id = ${project_id} AND name_key = ${nameKey(called)} AND id <> ${id}`,
      )
      return found.length > 0
    }
    if (nameKey(called) === name_key) continue
    for (let n = 2; isReserved(called) || (await isTaken()); n++) called = numbered(name, n)
    await tx.all(sql`UPDATE agents SET name = ${called}, name_key = ${nameKey(called)} WHERE id = ${id}`)
  }
}

/** Short enough for every door. */
const numbered = (name: string, n: number): string => `${[...name].slice(0, limits.busNameLength - 4).join('')}-${n}`

/** Two topics may have one name. */
async function renewTopics(tx: Tx): Promise<void> {
  const rows = await tx.all<{ id: number; name: string; name_key: string }>(
    sql`SELECT id, name, name_key FROM threads WHERE name_key IS NOT NULL AND ${perhapsStale}`,
  )
  for (const { id, name, name_key } of rows)
    if (nameKey(name) !== name_key) await tx.all(sql`UPDATE threads SET name_key = ${nameKey(name)} WHERE id = ${id}`)
}
