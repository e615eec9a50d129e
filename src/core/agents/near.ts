/** The names nearest to one that nobody has: most of them were mistyped. */
import { nameKey } from '../../base/names.ts'
import { nearest } from '../../base/nearest.ts'
import { listHomes } from '../../store/agents/agents.ts'
import { listNames, listNamesAnywhere } from '../../store/agents/profiles.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, mayRoam } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'

interface Sought {
  readonly projectId: number
  readonly name: string
  /** The agent that asks, which means somebody else. */
  readonly id?: number
}

/** The nearest names of the project, and the same name in other projects as far as the caller may look there. */
export async function findNear(hub: Hub, caller: Caller, { projectId, name, id = 0 }: Sought): Promise<string[]> {
  const key = nameKey(name)
  const names = await listNames(reader(hub), projectId, { notId: id, limit: mostCompared })
  const near = nearest(
    name,
    names.filter((other) => nameKey(other) !== key),
  )
  if (!mayRoam(caller)) return near
  const home = await slugOfProject(hub, projectId)
  const homes = await listHomes(reader(hub), { nameKey: key, seen: true, limit: mostElsewhere + 1 })
  return [...near, ...homes.filter((slug) => slug !== home).map((slug) => `${name}@${slug}`)].slice(0, mostNear)
}

/** The nearest names of all projects, each with its project; of one project alone to a caller that knows no other. */
export async function findNearAnywhere(hub: Hub, caller: Caller, name: string): Promise<string[]> {
  const home = homeOf(caller)
  if (home !== undefined) return findNear(hub, caller, { projectId: home, name })
  const known = await listNamesAnywhere(reader(hub), mostCompared)
  const near = nearest(name, [...new Set(known.map((one) => one.name))])
  return near
    .flatMap((found) => known.filter((one) => one.name === found).map(({ slug }) => `${found}@${slug}`))
    .slice(0, mostNear)
}

const mostElsewhere = 2
const mostNear = 3

/** Only the agents that were active last: other requests wait meanwhile. */
const mostCompared = 200
