/** The projects that somebody may have meant who named one that is not there. */
import { foldersAround, isAbsolutePath, slugName, slugWord, tidyKey } from '../../base/names.ts'
import { lettersApart, nearest } from '../../base/nearest.ts'
import type { Reader } from '../../db/port.ts'
import { findLongestFolder, listNewest, type ProjectRow } from '../../store/projects.ts'

/** So many are suggested, of as many of the newest. */
const suggested = { shown: 3, compared: 1000 } as const

/** The project around a path comes first; then those of a similar name; then those in folders nearby. `only`: among this one. */
export async function suggestProjects(db: Reader, slugOrKey: string, only: number | undefined): Promise<string> {
  const path = isAbsolutePath(slugOrKey) ? tidyKey(slugOrKey) : undefined
  const around = await findLongestFolder(db, { only, folders: path === undefined ? [] : foldersAround(path) })
  const newest = await listNewest(db, { only, limit: suggested.compared })
  const byName = Map.groupBy(newest, ({ slug }) => slugName(slug))
  const alike = nearest(slugName(slugWord(slugOrKey)), [...byName.keys()], suggested.shown).flatMap(
    (name) => byName.get(name) ?? [],
  )
  const near = [...new Set([...alike, ...(path === undefined ? [] : nearbyOf(path, newest))])].filter(
    ({ id }) => id !== around?.id,
  )
  const sentences = around === undefined ? [] : [`It lies in the project ${shown(around)}: name that to work there.`]
  const some = near.length > 0 || around !== undefined ? near : byDistance(slugName(slugWord(slugOrKey)), newest)
  if (some.length > 0) sentences.push(`The nearest: ${some.slice(0, suggested.shown).map(shown).join(', ')}.`)
  // None of them may be meant: a reader learns how much it does not see.
  if (near.length === 0 && some.length > suggested.shown)
    sentences.push(`There are ${newest.length === suggested.compared ? 'at least ' : ''}${newest.length} projects.`)
  return [...sentences, 'A project goes by its absolute path or its slug.'].join(' ')
}

/** No name is alike: those that differ in the fewest letters come first. */
function byDistance(name: string, projects: readonly ProjectRow[]): ProjectRow[] {
  const apart = new Map(projects.map((project) => [project, lettersApart(name, slugName(project.slug))]))
  return projects.toSorted((one, other) => (apart.get(one) ?? 0) - (apart.get(other) ?? 0))
}

export const shown = ({ slug, human_key: key }: Pick<ProjectRow, 'slug' | 'human_key'>): string =>
  key === slug ? slug : `${slug} (${key})`

const partsOf = (path: string): string[] => path.split(/[\\/]+/).filter((part) => part !== '')

/** The projects that share at least two folders with the path, those with most in common first. */
function nearbyOf(path: string, projects: readonly ProjectRow[]): ProjectRow[] {
  const parts = partsOf(path)
  const shared = (key: string) => {
    const others = partsOf(key)
    const differs = parts.findIndex((part, at) => part !== others[at])
    return differs < 0 ? parts.length : differs
  }
  return projects
    .map((project) => ({ project, count: shared(project.human_key) }))
    .filter(({ count }) => count >= 2)
    .sort((one, other) => other.count - one.count)
    .map(({ project }) => project)
}
