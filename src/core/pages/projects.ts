/** Projects with their figures, and the overview of one. */

import { listLast } from '../../store/mail/boxes.ts'
import { listTotals } from '../../store/pages/activity.ts'
import { countLeases, listAgentFigures, listProjectsLike } from '../../store/pages/projects.ts'
import { listConfirmed } from '../../store/pages/related-projects.ts'
import { listThreadRows } from '../../store/pages/threads.ts'
import type { ProjectRow } from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, mayRoam, pageSight } from '../access/rules.ts'
import { listAgents, type Profile } from '../agents/profiles.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { whoWaits } from '../presence/presence.ts'
import { needProject } from '../projects/projects.ts'
import { type Bucket, barsOf } from './activity.ts'
import { listPageLeases, type PageLease } from './leases.ts'
import { type Page, pageOf } from './page-message.ts'
import { describe, type PageThread } from './threads.ts'

export interface PageProject {
  readonly id: number
  readonly slug: string
  /** Its name for people: usually the path of a repository. */
  readonly key: string
  readonly createdAt: number
  readonly agents: number
  readonly messages: number
  readonly unread: number
  /** How many of its agents have mail that they have not read. */
  readonly behind: number
  /** When one of its agents was last active; undefined if none ever was. */
  readonly activeAt: number | undefined
  /** The slugs of projects that a person has confirmed to belong together with it. */
  readonly siblings: readonly string[]
}

interface ProjectsWish {
  /** Part of the slug or key. */
  readonly q?: string | undefined
  /** The id of the last one of the page before. */
  readonly after?: number | undefined
  readonly limit: number
}

export async function listPageProjects(
  hub: Hub,
  caller: Caller,
  { q, after = 0, limit }: ProjectsWish,
): Promise<Page<PageProject>> {
  const like = { only: homeOf(caller), q: q?.trim().toLowerCase(), after, limit: limit + 1 }
  const found = await listProjectsLike(reader(hub), like)
  const { items, next } = pageOf(found, limit, ({ id }) => id)
  return { items: await withFigures(hub, caller, items), next }
}

async function withFigures(hub: Hub, caller: Caller, rows: readonly ProjectRow[]): Promise<PageProject[]> {
  const ids = rows.map(({ id }) => id)
  const figures = await listAgentFigures(reader(hub), ids, { blind: pageSight(caller).blind === 'all' })
  const totals = await listTotals(reader(hub), ids)
  // The holder of a key is told of no other project.
  const siblings = mayRoam(caller) ? await listConfirmed(reader(hub)) : new Map<number, string[]>()
  return rows.map(({ id, slug, human_key, created_at }) => ({
    id,
    slug,
    key: human_key,
    createdAt: created_at,
    agents: figures.get(id)?.agents ?? 0,
    messages: totals.get(id) ?? 0,
    unread: figures.get(id)?.unread ?? 0,
    behind: figures.get(id)?.behind ?? 0,
    activeAt: figures.get(id)?.active_at || undefined,
    siblings: siblings.get(id) ?? [],
  }))
}

export interface Overview {
  readonly project: PageProject
  readonly threads: readonly PageThread[]
  readonly leases: readonly PageLease[]
  readonly counts: {
    readonly agents: number
    readonly messages: number
    readonly unread: number
    readonly leases: number
  }
  /** The last day, by the hour. */
  readonly hours: readonly Bucket[]
}

const mostAgents = 200
const newestThreads = 10
const newestLeases = 10

/** The latest active first. */
export async function listWorkers(
  hub: Hub,
  caller: Caller,
  project: string,
): Promise<readonly (Profile & { readonly waiting: boolean; readonly leases: number })[]> {
  const { project: home, agents } = await listAgents(hub, caller, project, { limit: mostAgents })
  const leases = await countLeases(reader(hub), home.id, hub.clock.now())
  const present = await whoWaits(hub)
  return agents.map((agent) => ({
    ...agent,
    waiting: present.of(agent.id)?.waiting === true,
    leases: leases.get(agent.id) ?? 0,
  }))
}

export async function overviewProject(hub: Hub, caller: Caller, project: string): Promise<Overview> {
  const home = await needProject(hub, caller, project)
  const now = hub.clock.now()
  const row = { id: home.id, slug: home.slug, human_key: home.key, created_at: home.createdAt }
  const [watched] = await withFigures(hub, caller, [row])
  const leases = await countLeases(reader(hub), home.id, now)
  const last = await listLast(reader(hub), { projectId: home.id, limit: newestThreads })
  const threads = await listThreadRows(
    reader(hub),
    last.map(({ thread_id }) => thread_id),
  )
  const { agents: count, messages, unread } = watched as PageProject
  return {
    project: watched as PageProject,
    threads: await describe(
      hub,
      pageSight(caller),
      last.flatMap(({ thread_id }) => threads.get(thread_id) ?? []),
    ),
    leases: (await listPageLeases(hub, caller, project, { state: 'active', limit: newestLeases })).items,
    counts: { agents: count, messages, unread, leases: [...leases.values()].reduce((sum, one) => sum + one, 0) },
    hours: (await barsOf(hub, home.id, '24h')).buckets,
  }
}
