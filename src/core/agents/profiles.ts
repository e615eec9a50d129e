/** Profiles: agents as others see them, one by one or as the directory of a project. */

import { nameKey } from '../../base/names.ts'
import {
  type AttachmentsPolicy,
  countByProject,
  findProfile,
  listByName,
  listEverywhere,
  listProfiles,
  listRecent,
  type ProfileRow,
} from '../../store/agents/profiles.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, mayEnter } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject, type Project, slugOfProject } from '../projects/projects.ts'
import { activity } from './activity.ts'
import { type Agent, type ContactPolicy, isNewcomer, type Newcomer, noAgent } from './agents.ts'

export interface Profile extends Agent {
  /** The slug of its project. */
  readonly project: string
  readonly program: string
  readonly model: string
  readonly task: string
  readonly roles: readonly string[]
  readonly contactPolicy: ContactPolicy
  readonly attachmentsPolicy: AttachmentsPolicy
  readonly unread: number
  readonly createdAt: number
  /** 0 for an agent that others have written to, and that has done nothing yet. */
  readonly activeAt: number
}

export const toProfile = (hub: Hub, { slug }: Pick<Project, 'slug'>, row: ProfileRow): Profile => ({
  id: row.id,
  projectId: row.project_id,
  project: slug,
  name: row.name,
  program: row.program,
  model: row.model,
  task: row.task,
  roles: rolesOf(row),
  contactPolicy: row.contact_policy,
  attachmentsPolicy: row.attachments_policy,
  unread: row.unread,
  createdAt: row.created_at,
  activeAt: activity(hub).latest(row.id, row.active_at),
})

const rolesOf = ({ roles }: Pick<ProfileRow, 'roles'>): readonly string[] =>
  roles === null || roles === '' ? [] : roles.split(',')

export async function whois(hub: Hub, caller: Caller, slugOrKey: string, name: string): Promise<Profile> {
  const project = await needProject(hub, caller, slugOrKey)
  const row = await findProfile(reader(hub), project.id, nameKey(name))
  if (row !== undefined) return toProfile(hub, project, row)
  throw await noAgent(hub, caller, { home: project, name, reason: 'no_agent' })
}

interface Listing {
  /** Only those active within this time. */
  readonly activeWithinMs?: number | undefined
  readonly limit: number
}

/**
 * The agents of a project, the latest active first. Recent activity may be in memory only: these agents are read besides
 * the `limit` latest of the database, and nobody else can be among the first `limit`.
 */
export async function listAgents(
  hub: Hub,
  caller: Caller,
  slugOrKey: string,
  { activeWithinMs, limit }: Listing,
): Promise<{ project: Project; agents: Profile[]; more: boolean }> {
  const project = await needProject(hub, caller, slugOrKey)
  const since = sinceOf(hub, activeWithinMs)
  const unwritten = activity(hub).unwritten()
  const rows = [
    ...(await listRecent(reader(hub), project.id, { since, limit: limit + 1 })),
    ...(await listProfiles(reader(hub), project.id, [...unwritten.keys()])),
  ]
  const latest = new Map(rows.map((row) => [row.id, toProfile(hub, project, later(row, unwritten))]))
  const agents = [...latest.values()].filter(({ activeAt }) => activeAt >= since)
  agents.sort((a, b) => b.activeAt - a.activeAt || b.id - a.id)
  return { project, agents: agents.slice(0, limit), more: agents.length > limit }
}

/** How long after its last call an agent counts as active, and how many of them a newcomer is told of. */
const activeMs = 86_400_000
const mostActive = 10

/** The others that are active in an agent's project, the latest first; to a new agent all of them are others. */
export async function listActiveOthers(
  hub: Hub,
  caller: Caller,
  slugOrKey: string,
  who: Agent | Newcomer,
): Promise<Profile[]> {
  const { agents } = await listAgents(hub, caller, slugOrKey, { activeWithinMs: activeMs, limit: mostActive + 1 })
  return agents.filter(({ id }) => isNewcomer(who) || id !== who.id).slice(0, mostActive)
}

/** A time that was unwritten when the reading began may be written by now: then it is in neither place. */
const later = (row: ProfileRow, unwritten: ReadonlyMap<number, number>): ProfileRow => ({
  ...row,
  active_at: Math.max(row.active_at, unwritten.get(row.id) ?? 0),
})

/** The agents of all projects, or of one, the latest active first; a caller that knows one project is told of that. */
export async function listAllAgents(
  hub: Hub,
  caller: Caller,
  { project: slugOrKey, activeWithinMs, limit }: Listing & { readonly project?: string | undefined },
): Promise<{ agents: Profile[]; more: boolean }> {
  const projectId = slugOrKey === undefined ? homeOf(caller) : (await needProject(hub, caller, slugOrKey)).id
  const since = sinceOf(hub, activeWithinMs)
  const unwritten = activity(hub).unwritten()
  const recent = { projectId, ids: [...unwritten.keys()], since: 0, limit: unwritten.size }
  const rows = [
    ...(await listEverywhere(reader(hub), { projectId, since, limit: limit + 1 })),
    ...(unwritten.size === 0 ? [] : await listEverywhere(reader(hub), recent)),
  ]
  const latest = [...new Map(rows.map((row) => [row.id, later(row, unwritten)])).values()].filter(
    ({ active_at }) => active_at >= since,
  )
  latest.sort((a, b) => b.active_at - a.active_at || b.id - a.id)
  const agents: Profile[] = []
  for (const row of latest.slice(0, limit))
    agents.push(toProfile(hub, { slug: await slugOfProject(hub, row.project_id) }, row))
  return { agents, more: latest.length > limit }
}

/** The same by name, a page at a time: `next` is the name after which the next page begins, if there is one. */
export async function pageAgents(
  hub: Hub,
  caller: Caller,
  slugOrKey: string,
  { activeWithinMs, limit, after }: Listing & { after?: string | undefined },
): Promise<{ project: Project; agents: Profile[]; next: string | undefined }> {
  const project = await needProject(hub, caller, slugOrKey)
  const since = sinceOf(hub, activeWithinMs)
  const unwritten = activity(hub).unwritten()
  const rows = await listByName(reader(hub), project.id, {
    since,
    active: [...unwritten].filter(([, at]) => at >= since).map(([id]) => id),
    after: after === undefined ? undefined : nameKey(after),
    limit: limit + 1,
  })
  const agents = rows.slice(0, limit).map((row) => toProfile(hub, project, later(row, unwritten)))
  return { project, agents, next: rows.length > limit ? agents.at(-1)?.name : undefined }
}

const sinceOf = ({ clock }: Hub, withinMs: number | undefined): number =>
  withinMs === undefined ? 0 : Math.max(0, Math.floor(clock.now() - withinMs))

/** How many agents each of these projects has. */
export const countAgents = (
  hub: Hub,
  caller: Caller,
  projects: readonly Project[],
): Promise<ReadonlyMap<number, number>> =>
  countByProject(
    reader(hub),
    projects.map(({ id }) => id).filter((id) => mayEnter(caller, id)),
  )
