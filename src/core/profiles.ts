/** Profiles: who an agent is, for others to see; looked up one by one or as the directory of a project. */
import { nameKey } from '../base/names.ts'
import { countByProject, findProfile, listByName, listRecent, type ProfileRow } from '../store/profiles.ts'
import { type Agent, type ContactPolicy, noAgent } from './agents.ts'
import type { Hub } from './hub.ts'
import { needProject, type Project } from './projects.ts'

export interface Profile extends Agent {
  /** The slug of its project. */
  readonly project: string
  readonly program: string
  readonly model: string
  readonly task: string
  readonly contactPolicy: ContactPolicy
  readonly unread: number
  readonly createdAt: number
  readonly activeAt: number
}

export const toProfile = (hub: Hub, { slug }: Project, row: ProfileRow): Profile => ({
  id: row.id,
  projectId: row.project_id,
  project: slug,
  name: row.name,
  program: row.program,
  model: row.model,
  task: row.task,
  contactPolicy: row.contact_policy,
  unread: row.unread,
  createdAt: row.created_at,
  activeAt: hub.activity.latest(row.id, row.active_at),
})

export async function whois(hub: Hub, slugOrKey: string, name: string): Promise<Profile> {
  const project = await needProject(hub, slugOrKey)
  const row = await findProfile(hub.db, project.id, nameKey(name))
  if (row !== undefined) return toProfile(hub, project, row)
  throw noAgent(name, project.slug)
}

export interface Listing {
  /** Only those active within this time. */
  readonly activeWithinMs?: number | undefined
  readonly limit: number
}

/** The agents of a project, the one active last first. */
export async function listAgents(
  hub: Hub,
  slugOrKey: string,
  { activeWithinMs, limit }: Listing,
): Promise<{ project: Project; agents: Profile[] }> {
  const project = await needProject(hub, slugOrKey)
  await hub.activity.write()
  const rows = await listRecent(hub.db, project.id, { since: sinceOf(hub, activeWithinMs), limit })
  return { project, agents: rows.map((row) => toProfile(hub, project, row)) }
}

/** The same by name, a page at a time: `next` is the name after which the next page begins, if there is one. */
export async function pageAgents(
  hub: Hub,
  slugOrKey: string,
  { activeWithinMs, limit, after }: Listing & { after?: string | undefined },
): Promise<{ project: Project; agents: Profile[]; next: string | undefined }> {
  const project = await needProject(hub, slugOrKey)
  if (activeWithinMs !== undefined) await hub.activity.write()
  const rows = await listByName(hub.db, project.id, {
    since: sinceOf(hub, activeWithinMs),
    after: after === undefined ? undefined : nameKey(after),
    limit: limit + 1,
  })
  const agents = rows.slice(0, limit).map((row) => toProfile(hub, project, row))
  return { project, agents, next: rows.length > limit ? agents.at(-1)?.name : undefined }
}

const sinceOf = ({ clock }: Hub, withinMs: number | undefined): number =>
  withinMs === undefined ? 0 : Math.max(0, Math.floor(clock.now() - withinMs))

/** How many agents each of these projects has. */
export const countAgents = (hub: Hub, projects: readonly Project[]): Promise<ReadonlyMap<number, number>> =>
  countByProject(
    hub.db,
    projects.map(({ id }) => id),
  )
