/** The project of a folder that a connection names, and what a caller is told of the folder that it named. */
import { homeFolders } from '../../attachments/forbidden-files.ts'
import { folderKey, foldersAround, isAbsolutePath } from '../../base/names.ts'
import { findLongestFolder } from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { mayReadFiles, mayRoam, needWriting } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { ensureProject, findPlace, isNew, makeProject, type NewProject, type Project, toProject } from './projects.ts'
import { findReal } from './real-folders.ts'
import { shown } from './suggestions.ts'

/** `note` tells the caller why this is not the folder that it named, or what lies around it. */
interface Placed<Place = Project | NewProject> {
  readonly place: Place
  readonly note?: string | undefined
  /** The folder, where it is a git worktree: its files are not those of the main checkout. */
  readonly worktree?: string | undefined
}

/**
 * The project of a folder that roots or the working folder of a client name: a known one of that key, else for local callers
 * the known one around it, else a new one. A repository of its own inside of a project is none of its folders.
 */
export async function projectOfFolder(hub: Hub, caller: Caller, folder: string): Promise<Placed> {
  const place = await findPlace(hub, caller, folder)
  // In each call of a client that names its folder: nothing is to be said of a key as it stands.
  if (!isNew(place) && place.key === folder) return { place }
  const around = isNew(place) ? await findAround(hub, caller, place) : undefined
  if (around === undefined) {
    const real = await findReal(hub, caller, folder)
    const worktree = real?.worktree && folderKey(real.path) === folderKey(keyOf(place)) ? folder : undefined
    return { place, note: await noteOnWay(hub, caller, folder, place), worktree }
  }
  return { place: around, note: `${folder} lies in the project ${named(around)}: that is the project here.` }
}

/** The same, made where it is new. */
export async function ensureProjectOfFolder(hub: Hub, caller: Caller, folder: string): Promise<Placed<Project>> {
  needWriting(caller)
  const { place, note } = await projectOfFolder(hub, caller, folder)
  if (!isNew(place)) return { place, note }
  return { place: await commit(hub, caller, (tx, noted) => makeProject(hub, tx, noted, place)), note }
}

/** The project that an argument names, made as it was asked for: a note names the one around it. */
export async function openProject(hub: Hub, caller: Caller, humanKey: string): Promise<Placed<Project>> {
  needWriting(caller)
  const note = await noteOnKey(hub, caller, humanKey)
  return { place: await ensureProject(hub, caller, humanKey), note }
}

/** Advice for a caller that is about to make, or has found, a project by this key. */
export async function noteOnKey(hub: Hub, caller: Caller, key: string): Promise<string | undefined> {
  const place = await findPlace(hub, caller, key)
  const way = await noteOnWay(hub, caller, key, place)
  const around = isNew(place) && mayRoam(caller) ? await findEnclosing(hub, foldersAround(place.newKey)) : undefined
  if (around === undefined) return way
  const inside = `It lies in the folder of the project ${named(around)}: use that key if the work is shared.`
  return way === undefined ? inside : `${way} ${inside}`
}

async function noteOnWay(
  hub: Hub,
  caller: Caller,
  folder: string,
  place: Project | NewProject,
): Promise<string | undefined> {
  const key = keyOf(place)
  if (!isAbsolutePath(folder) || folderKey(folder) === folderKey(key)) return undefined
  const real = await findReal(hub, caller, folder)
  if (real === undefined || folderKey(real.path) !== folderKey(key)) return undefined
  return real.worktree
    ? `${folder} is a git worktree of ${key}: that is its project. PROJECT_PER_WORKTREE=true keeps worktrees apart.`
    : `${folder} leads to ${key} by a link: that is its project.`
}

/** Up to the top of the repository around it, and no further. */
async function findAround(hub: Hub, caller: Caller, { newKey }: NewProject): Promise<Project | undefined> {
  if (!mayReadFiles(caller) || !isAbsolutePath(newKey)) return undefined
  const top = (await findReal(hub, caller, newKey))?.top
  const folders = foldersAround(newKey)
  // A home folder is around everything of its user; only a repository makes one project of it.
  if (top === undefined) return findEnclosing(hub, await withoutHome(folders))
  const last = folders.indexOf(folderKey(top))
  return findEnclosing(hub, folderKey(top) === folderKey(newKey) ? [] : last < 0 ? folders : folders.slice(0, last + 1))
}

async function withoutHome(folders: readonly string[]): Promise<string[]> {
  const homes = (await homeFolders()).map(folderKey)
  return folders.filter((folder) => !homes.includes(folder))
}

async function findEnclosing(hub: Hub, folders: readonly string[]): Promise<Project | undefined> {
  const row = await findLongestFolder(reader(hub), { only: undefined, folders })
  return row && toProject(row)
}

const keyOf = (place: Project | NewProject): string => (isNew(place) ? place.newKey : place.key)

const named = ({ slug, key }: Project): string => shown({ slug, human_key: key })
