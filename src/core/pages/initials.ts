/** Initials and hues of agents, which differ within a project as far as there are enough. The oldest agent chooses first: they never change. */
import { freeHue, namedHue } from '../../base/hues.ts'
import { freeInitials, initials } from '../../base/initials.ts'
import { can } from '../../db/dialect.ts'
import { listNamesAfter } from '../../store/pages/projects.ts'
import type { Caller } from '../access/callers.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { slugsOf, type Who } from './page-message.ts'

export interface Disc {
  readonly initials: string
  readonly hue: string
}

interface Home {
  readonly byName: Map<string, Disc>
  readonly taken: Set<string>
  /** How many wear a hue. */
  readonly worn: Map<string, number>
}

const kept = memory(() => ({ last: 0, ids: new Set<number>(), homes: new Map<string, Home>() }))

/** Past so many agents discs are the usual ones: memory is worth more. */
const mostKept = 20_000
const pageSize = 2000
/** On PostgreSQL ids become visible out of order, by as many as there are writers at once. */
const lookBack = 50

/** Reads the agents that came since the last page; then discs are found in memory. */
export async function knowDiscs(hub: Hub, _caller: Caller): Promise<(who: Who) => Disc> {
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
      const home = known.homes.get(slug) ?? { byName: new Map(), taken: new Set(), worn: new Map() }
      const chosen = freeInitials(name, (one) => home.taken.has(one))
      const wornBy = (one: string): number => home.worn.get(one) ?? 0
      const hue = namedHue(name) ?? freeHue(name, wornBy)
      home.byName.set(name, { initials: chosen, hue })
      home.taken.add(chosen)
      home.worn.set(hue, wornBy(hue) + 1)
      known.homes.set(slug, home)
    }
    if (rows.length < pageSize) break
  }
  return ({ name, project }) => known.homes.get(project)?.byName.get(name) ?? usualDisc(name)
}

/** Of an agent that nobody knows beside others. */
export const usualDisc = (name: string): Disc => ({
  initials: initials(name),
  hue: namedHue(name) ?? freeHue(name),
})
