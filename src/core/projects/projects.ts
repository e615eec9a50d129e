/** Projects: the namespaces of agents and threads. */

import { HubError } from '../../base/errors.ts'
import { slugOf, tidyKey } from '../../base/names.ts'
import type { Reader } from '../../db/port.ts'
import {
  findProject,
  findSlug,
  insertProject,
  listProjects as listRows,
  type ProjectRow,
} from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { mayEnter, maySteer } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'

export interface Project {
  readonly id: number
  readonly slug: string
  /** Its name for people: usually the absolute path of a repository. */
  readonly key: string
  readonly createdAt: number
}

/** Projects seen before. A project is never renamed: this stays true. */
export const known = memory(() => ({ projects: new Map<string, Project>(), slugs: new Map<number, string>() }))

const toProject = ({ id, slug, human_key, created_at }: ProjectRow): Project => ({
  id,
  slug,
  key: human_key,
  createdAt: created_at,
})

/** The project of this slug or human key; one that was never named before is made, as a mailbox is. */
export async function ensureProject(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project> {
  const found = await findProjectCalled(hub, slugOrKey)
  if (found !== undefined && mayEnter(caller, found.id)) return found
  // A foreign project and a missing one answer alike.
  if (found !== undefined || !maySteer(caller)) throw missing(slugOrKey)
  const humanKey = tidyKey(slugOrKey)
  const row = await commit(hub, caller, async (tx, note) => {
    const found = await findProject(tx, humanKey)
    if (found !== undefined) return found
    const made = await insertProject(tx, { slug: await freeSlug(tx, humanKey), humanKey, now: hub.clock.now() })
    note({ kind: 'project.created', projectId: made.id })
    return made
  })
  return remember(known(hub).projects, slugOrKey, toProject(row))
}

/** Where two keys share the last part and the short hash, or somebody used the slug as a key, a longer hash tells them apart. */
export async function freeSlug(tx: Reader, humanKey: string): Promise<string> {
  let slug = slugOf(humanKey)
  for (const length of [8, 12, 16, 64]) {
    if ((await findProject(tx, slug)) === undefined) break
    slug = slugOf(humanKey, length)
  }
  return slug
}

/** Every door asks here, so that all of them mean one project whichever way its key is written. */
export async function findProjectCalled(hub: Hub, slugOrKey: string): Promise<Project | undefined> {
  const before = known(hub).projects.get(slugOrKey)
  if (before !== undefined) return before
  // First as it is written: older databases hold keys that end with a slash.
  const tidy = tidyKey(slugOrKey)
  const row =
    (await findProject(reader(hub), slugOrKey)) ??
    (tidy === slugOrKey ? undefined : await findProject(reader(hub), tidy))
  return row && remember(known(hub).projects, slugOrKey, toProject(row))
}

/** For projects that are only looked at: none is made. */
export async function needProject(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project> {
  const found = await findProjectCalled(hub, slugOrKey)
  if (found === undefined || !mayEnter(caller, found.id)) throw missing(slugOrKey)
  return found
}

/**
 * The project of another agent: an address may name it though the caller may not look into it. The holder of a key is not
 * told a foreign project from a missing one; for others a missing one is an error.
 */
export async function findProjectElsewhere(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project | undefined> {
  const found = await findProjectCalled(hub, slugOrKey)
  if (found === undefined && maySteer(caller)) throw missing(slugOrKey, 'elsewhere')
  return found
}

function missing(slugOrKey: string, reason?: 'elsewhere'): HubError {
  return new HubError('PROJECT_NOT_FOUND', `There is no project ${JSON.stringify(slugOrKey)}.`, {
    reason,
    hint: 'Name it by its key (usually the absolute path of the repository) or its slug.',
  })
}

/** In the order in which they were made, those after the project with the id `after`. */
export async function listProjects(
  hub: Hub,
  caller: Caller,
  { after = 0, limit }: { after?: number | undefined; limit: number },
): Promise<Project[]> {
  const only = caller.kind === 'agent' ? caller.projectId : undefined
  return (await listRows(reader(hub), { only, after, limit })).map(toProject)
}

/** Slugs never change: each is asked for once. */
export async function slugOfProject(hub: Hub, id: number): Promise<string> {
  return known(hub).slugs.get(id) ?? remember(known(hub).slugs, id, await findSlug(reader(hub), id))
}
