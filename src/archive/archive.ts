/** The archive of all projects in one folder: their repositories, and up to where the feed of changes is in them. */
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { ownFolder } from './commit-index.ts'
import { tryGit } from './git.ts'
import { type Commit, isShown, type Owner, Repository } from './repository.ts'

/** A place in the feed of changes. */
interface FeedPosition {
  readonly tx: number
  readonly id: number
}

interface Kept {
  readonly id: string
  readonly place?: FeedPosition | undefined
}

/** Of the whole archive: its id, and up to where the feed of changes is in it. */
export const stateFile = '.archive.json'

/** Repositories that are open at a time: each holds some processes and some megabytes. */
const mostOpen = 8

/** Small packs are joined from this number on. */
const mostPacks = 50

/** Folders whose names begin with a dot are none of a project. */
export const projectFolders = (folder: string): string[] => {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
}

/** The projects that have a repository, one a line. Beside the folder: it tells of a folder that is gone whole, too. */
export const listFile = (folder: string): string => `${folder}.list`

const listedProjects = (folder: string): string[] =>
  existsSync(listFile(folder)) ? readFileSync(listFile(folder), 'utf8').split('\n').filter(Boolean) : []

const hasRepository = (folder: string, slug: string): boolean => existsSync(join(folder, slug, '.git'))

/** Projects whose repository is gone: those that are listed, and those whose files are there. */
export function lostRepositories(folder: string): string[] {
  const withFiles = projectFolders(folder).filter((slug) =>
    ['agents', 'messages'].some((name) => existsSync(join(folder, slug, name))),
  )
  return [...new Set([...listedProjects(folder), ...withFiles])].filter((slug) => !hasRepository(folder, slug))
}

/** The state of the archive as a whole, by two small files: whether it is gone, or being made anew. */
export function findTrouble(folder: string): 'gone' | 'unfinished' | undefined {
  if (listedProjects(folder).length === 0) return undefined
  const state = readState(folder)
  if (state === undefined) return 'gone'
  return state.place === undefined ? 'unfinished' : undefined
}

/** Whether all files are checked out as of the newest commits. */
export const isAllShown = (folder: string): boolean =>
  projectFolders(folder).every((slug) => isShown(join(folder, slug)))

export class Archive {
  readonly folder: string
  readonly owner: Owner
  readonly #open = new Map<string, Repository>()
  readonly #touched = new Set<string>()
  /** Projects whose files are not checked out yet. */
  readonly #unshown = new Set<string>()

  /** `newId` names an archive that is just begun. */
  constructor(folder: string, { author, newId }: { author: Owner['author']; newId: string }) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.folder = folder
    this.owner = { id: readState(folder)?.id ?? beginState(folder, newId), author }
    const listed = new Set(listedProjects(folder))
    for (const slug of projectFolders(folder)) {
      if (!isShown(join(folder, slug))) this.#unshown.add(slug)
      if (!listed.has(slug) && isOurs(folder, slug)) this.#list(slug)
    }
  }

  #list(slug: string): void {
    appendFileSync(listFile(this.folder), `${slug}\n`, { mode: 0o600 })
  }

  get place(): FeedPosition | undefined {
    const kept = readState(this.folder)
    // Somebody has put another archive in its place: that one begins anew.
    return kept?.id === this.owner.id ? kept.place : undefined
  }

  /** Without a place everything is made anew by whoever looks next. */
  setPlace(place: FeedPosition | undefined): void {
    writeState(this.folder, { id: this.owner.id, place })
  }

  async add(slug: string, commits: readonly Commit[]): Promise<void> {
    const repository = await this.#repository(slug)
    this.#touched.add(slug)
    for (const commit of commits) await repository.add(commit)
  }

  /** Makes the commits visible. Where that fails, they are made again, on top of whatever is there then. */
  async keep(): Promise<void> {
    for (const slug of this.#touched) {
      try {
        await this.#open.get(slug)?.keep()
      } catch (error) {
        this.#close(slug)
        throw error
      }
      this.#unshown.add(slug)
      this.#touched.delete(slug)
    }
    this.#closeOld()
  }

  /** Forgets commits that were not kept. */
  drop(): void {
    for (const slug of this.#touched) this.#close(slug)
    this.#touched.clear()
  }

  get isShown(): boolean {
    return this.#unshown.size === 0
  }

  /** Puts the files of the newest commits into the folders. */
  async show(): Promise<void> {
    for (const slug of [...this.#unshown]) {
      await (await this.#repository(slug)).checkOut()
      this.#unshown.delete(slug)
      await joinPacks(join(this.folder, slug))
    }
    this.#closeOld()
  }

  close(): void {
    for (const slug of [...this.#open.keys()]) this.#close(slug)
  }

  async #repository(slug: string): Promise<Repository> {
    const known = this.#open.get(slug)
    const usable = known !== undefined && (this.#touched.has(slug) || known.isCurrent())
    if (!usable) this.#close(slug)
    const repository = usable ? known : await this.#openRepository(slug)
    // The one that was used last stands last.
    this.#open.delete(slug)
    this.#open.set(slug, repository)
    return repository
  }

  /** A repository that somebody has removed is not begun anew at its end: the whole archive is made anew. */
  async #openRepository(slug: string): Promise<Repository> {
    const listed = listedProjects(this.folder).includes(slug)
    if (listed && !hasRepository(this.folder, slug)) {
      this.setPlace(undefined)
      throw new Error(`the archive of ${slug} is gone from ${this.folder}; everything is archived anew`)
    }
    const repository = await Repository.open(join(this.folder, slug), this.owner)
    if (!listed) this.#list(slug)
    return repository
  }

  #closeOld(): void {
    for (const slug of [...this.#open.keys()].slice(0, -mostOpen)) this.#close(slug)
  }

  #close(slug: string): void {
    this.#open.get(slug)?.close()
    this.#open.delete(slug)
  }
}

/** Only for speed and room: a git that does not know how leaves them as they are. */
async function joinPacks(folder: string): Promise<void> {
  const packs = readdirSync(join(folder, '.git', 'objects', 'pack')).filter((name) => name.endsWith('.pack'))
  if (packs.length > mostPacks) await tryGit(folder, ['repack', '-d', '-q', '--geometric=2'])
}

export function readState(folder: string): Kept | undefined {
  try {
    const kept = JSON.parse(readFileSync(join(folder, stateFile), 'utf8')) as Kept
    return typeof kept.id === 'string' ? kept : undefined
  } catch {
    return undefined
  }
}

/** Of processes that begin at the same time one names the archive, and all of them go by that name. */
function beginState(folder: string, newId: string): string {
  const path = join(folder, stateFile)
  const own = `${path}.${newId}`
  writeFileSync(own, `${JSON.stringify({ id: newId })}\n`, { mode: 0o600 })
  try {
    linkSync(own, path)
  } catch {
    // Somebody was faster; or it is there and cannot be read, or there are no links on this disk.
    if (readState(folder) === undefined) renameSync(own, path)
  }
  rmSync(own, { force: true })
  return readState(folder)?.id ?? newId
}

function writeState(folder: string, kept: Kept): void {
  const path = join(folder, stateFile)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const handle = openSync(`${path}.new`, 'w', 0o600)
  try {
    writeSync(handle, `${JSON.stringify(kept)}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(`${path}.new`, path)
}

/** Where a rebuild works, beside the projects. */
const [rebuilding, replaced] = ['.rebuilding', '.replaced']

/** An empty archive for a rebuild. */
export function beginAnew(archive: Archive): Archive {
  const { folder, owner } = archive
  clearLeftovers(archive)
  return new Archive(join(folder, rebuilding), { author: owner.author, newId: owner.id })
}

/**
 * Puts the rebuilt projects in the place of the old ones. A death in between leaves the archive without a place, to be made
 * anew. Folders of other people stay.
 */
export function replaceBy({ folder }: Archive, rebuilt: Archive): void {
  rebuilt.close()
  mkdirSync(join(folder, replaced), { recursive: true })
  const anew = projectFolders(rebuilt.folder)
  const old = projectFolders(folder).filter((slug) => anew.includes(slug) || isOurs(folder, slug))
  for (const slug of old) renameSync(join(folder, slug), join(folder, replaced, slug))
  for (const slug of anew) renameSync(join(rebuilt.folder, slug), join(folder, slug))
  writeFileSync(listFile(folder), anew.map((slug) => `${slug}\n`).join(''), { mode: 0o600 })
}

const isOurs = (folder: string, slug: string): boolean => existsSync(ownFolder(join(folder, slug)))

/** Removes the files of earlier rebuilds, finished or killed. */
export function clearLeftovers({ folder }: Archive): void {
  for (const name of [rebuilding, listFile(rebuilding), replaced])
    rmSync(join(folder, name), { recursive: true, force: true })
}
