/** Initials of agents that differ within a project. The oldest agent chooses first: initials never change. */
import { freeInitials, initials } from '../../base/initials.ts'
import { can } from '../../db/dialect.ts'
import { listNamesAfter } from '../../store/pages/projects.ts'
import type { Caller } from '../access/callers.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { slugsOf, type Who } from './page-message.ts'

interface Home {
  readonly byName: Map<string, string>
  readonly taken: Set<string>
}

const kept = memory(() => ({ last: 0, ids: new Set<number>(), homes: new Map<string, Home>() }))

/** Past so many agents names are shown by their usual initials: memory is worth more. */
const mostKept = 20_000
const pageSize = 2000
/** On PostgreSQL ids become visible out of order, by as many as there are writers at once. */
const lookBack = 50

/** Reads the agents that came since the last page; then initials are found in memory. */
export async function knowInitials(hub: Hub, _caller: Caller): Promise<(who: Who) => string> {
  const known = kept(hub)
  const back = can(reader(hub)).concurrentWriters ? lookBack : 0
  while (known.ids.size < mostKept) {
    const rows = await listNamesAfter(reader(hub), known.last - back, pageSize)
    const slugs = await slugsOf(
      hub,
      rows.map(({ project_id }) => project_id),
    )
    for (const { id, name, project_id } of rows) {
      known.last = Math.max(known.last, id)
      if (known.ids.has(id)) continue
      known.ids.add(id)
      const slug = slugs.get(project_id) ?? ''
      const home = known.homes.get(slug) ?? { byName: new Map(), taken: new Set() }
      const chosen = freeInitials(name, (one) => home.taken.has(one))
      home.byName.set(name, chosen)
      home.taken.add(chosen)
      known.homes.set(slug, home)
    }
    if (rows.length < pageSize) break
  }
  return ({ name, project }) => known.homes.get(project)?.byName.get(name) ?? initials(name)
}
