/** Projects: the namespaces of agents and threads. */

import { HubError } from '../../base/errors.ts'
import { commons, folderKey, isAbsolutePath, slugName, slugOf, tidyKey } from '../../base/names.ts'
import type { Reader, Tx } from '../../db/port.ts'
import {
  findMerged,
  findProject,
  findProjectAt,
  findSlug,
  insertProject,
  listProjectsNamed,
  listProjects as listRows,
  type ProjectRow,
} from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, mayEnter, mayRoam, needWriting } from '../access/rules.ts'
import { commit, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { findReal, freshReal } from './real-folders.ts'
import { suggestProjects } from './suggestions.ts'

export interface Project {
  readonly id: number
  readonly slug: string
  /** Its name for people: usually the absolute path of a repository. */
  readonly key: string
  readonly createdAt: number
}

/** Projects seen before, by slug and key. One is merged or renamed only while no other process runs: this stays true. */
export const known = memory(() => ({ projects: new Map<string, Project>(), slugs: new Map<number, string>() }))

/** Forgets all of them: one was merged or renamed. */
export function forgetProjects(hub: Hub): void {
  known(hub).projects.clear()
  known(hub).slugs.clear()
}

export const toProject = ({ id, slug, human_key, created_at }: ProjectRow): Project => ({
  id,
  slug,
  key: human_key,
  createdAt: created_at,
})

/** A project that does not exist yet, and may be made. */
export interface NewProject {
  readonly newKey: string
}

/**
 * The project of this slug, name or human key. A path that nobody has named before is that of a new project, which the
 * caller makes with what comes first in it; any other unknown name is an error (mail.project.named).
 */
export async function findPlace(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project | NewProject> {
  const found = await findMeant(hub, caller, slugOrKey)
  if (found !== undefined && mayEnter(caller, found.id)) return found
  // A foreign project and a missing one answer alike.
  if (found !== undefined || !mayRoam(caller)) throw await missing(hub, caller, slugOrKey)
  if (isAbsolutePath(slugOrKey)) return { newKey: (await findReal(hub, caller, slugOrKey))?.path ?? tidyKey(slugOrKey) }
  if (tidyKey(slugOrKey) === commons) return { newKey: commons }
  throw await missing(hub, caller, slugOrKey)
}

export const isNew = (place: Project | NewProject): place is NewProject => 'newKey' in place

/** In the transaction of the first thing in it: a call that fails leaves no project behind (all.calls.nothing-made). */
export async function makeProject(hub: Hub, tx: Tx, note: Note, { newKey }: NewProject): Promise<Project> {
  const found = await findNamed(tx, newKey)
  if (found !== undefined) return toProject(found)
  const made = await insertProject(tx, { slug: await freeSlug(tx, newKey), humanKey: newKey, now: hub.clock.now() })
  note({ kind: 'project.created', projectId: made.id })
  return toProject(made)
}

/** The same, made where it is new. */
export async function ensureProject(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project> {
  needWriting(caller)
  const place = await findPlace(hub, caller, slugOrKey)
  if (!isNew(place)) return place
  const made = await commit(hub, caller, (tx, note) => makeProject(hub, tx, note, place))
  return remember(known(hub).projects, made.key, made)
}

/** Where two keys share the last part and the short hash, or somebody used the slug as a key, a longer hash tells them apart. */
export async function freeSlug(tx: Reader, humanKey: string): Promise<string> {
  let slug = slugOf(humanKey)
  for (const length of [8, 12, 16, 64]) {
    if ((await findNamed(tx, slug)) === undefined) break
    slug = slugOf(humanKey, length)
  }
  return slug
}

/**
 * Every door asks here, so that all of them mean one project whichever way its key is written. It also goes by its slug
 * without the hash, while one project only has that name: among all, or among `only`.
 */
export async function findProjectCalled(hub: Hub, slugOrKey: string, only?: number): Promise<Project | undefined> {
  const before = known(hub).projects.get(slugOrKey)
  if (before !== undefined) return before
  const tidy = tidyKey(slugOrKey)
  const row = await findNamed(reader(hub), slugOrKey)
  if (row !== undefined) return remember(known(hub).projects, slugOrKey, toProject(row))
  // Not remembered: the next project may have the same name.
  const [one, ...others] = await listNamesakes(hub, tidy, only)
  return one !== undefined && others.length === 0 ? toProject(one) : undefined
}

/** First as it is written: older databases hold keys that end with a slash. What was merged goes by its old names. */
export async function findNamed(db: Reader, slugOrKey: string): Promise<ProjectRow | undefined> {
  const tidy = tidyKey(slugOrKey)
  return (
    (await findProject(db, slugOrKey)) ??
    (tidy === slugOrKey ? undefined : await findProject(db, tidy)) ??
    (isAbsolutePath(slugOrKey) ? await findProjectAt(db, slugOrKey) : undefined) ??
    (await findMerged(db, tidy))
  )
}

/**
 * The project that a caller means by a name. Where nobody has a folder of this machine as a key, the one that it leads to is
 * meant, for those whom files are read for: by a link its target, by a worktree the main checkout (mail.project.real).
 */
async function findMeant(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project | undefined> {
  const { projects } = known(hub)
  // Asked before the database, which a caller in a worktree would pay for in every call.
  const before = projects.get(slugOrKey) ?? projects.get(freshReal(hub, caller, slugOrKey)?.path ?? '')
  if (before !== undefined) return before
  const found = await findProjectCalled(hub, slugOrKey, homeOf(caller))
  if (found !== undefined) return found
  const real = await findReal(hub, caller, slugOrKey)
  return real === undefined || folderKey(real.path) === folderKey(slugOrKey)
    ? undefined
    : findProjectCalled(hub, real.path)
}

/** More slugs that begin with a name and are no namesakes than this are not looked through. */
const mostNamesakes = 1000

async function listNamesakes(hub: Hub, called: string, only: number | undefined): Promise<ProjectRow[]> {
  const name = called.toLowerCase()
  if (!/^[a-z0-9-]{1,40}$/.test(name)) return []
  const rows = await listProjectsNamed(reader(hub), { name, only, limit: mostNamesakes })
  return rows.filter(({ slug }) => slugName(slug) === name)
}

/** For projects that are only looked at: none is made. */
export async function needProject(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project> {
  const found = await findMeant(hub, caller, slugOrKey)
  if (found === undefined || !mayEnter(caller, found.id)) throw await missing(hub, caller, slugOrKey)
  return found
}

/**
 * The project of another agent: an address may name it though the caller may not look into it. The holder of a key is not
 * told a foreign project from a missing one; for others a missing one is an error.
 */
export async function findProjectElsewhere(hub: Hub, caller: Caller, slugOrKey: string): Promise<Project | undefined> {
  const found = await findProjectCalled(hub, slugOrKey)
  if (found === undefined && mayRoam(caller)) throw await missing(hub, caller, slugOrKey, 'elsewhere')
  return found
}

async function missing(hub: Hub, caller: Caller, slugOrKey: string, reason?: 'elsewhere'): Promise<HubError> {
  const shown = JSON.stringify(slugOrKey.length > 200 ? `${slugOrKey.slice(0, 200)}…` : slugOrKey)
  const hint = await suggestProjects(reader(hub), slugOrKey, homeOf(caller))
  return new HubError('PROJECT_NOT_FOUND', `There is no project ${shown}.`, { reason, hint })
}

/** In the order in which they were made, those after the project with the id `after`. */
export async function listProjects(
  hub: Hub,
  caller: Caller,
  { after = 0, limit }: { after?: number | undefined; limit: number },
): Promise<{ projects: Project[]; hasMore: boolean }> {
  const rows = await listRows(reader(hub), { only: homeOf(caller), after, limit: limit + 1 })
  return { projects: rows.slice(0, limit).map(toProject), hasMore: rows.length > limit }
}

/** Slugs never change: each is asked for once. */
export async function slugOfProject(hub: Hub, id: number): Promise<string> {
  return known(hub).slugs.get(id) ?? remember(known(hub).slugs, id, await findSlug(reader(hub), id))
}
