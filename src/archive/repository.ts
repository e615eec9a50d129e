/** The repository of one project: commits are made here and put into packs, and git checks out their files. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { type StoredFile, writeBlob } from './blobs.ts'
import { type Noun, ownFolder, readSlots, slotsOf, writeSlots } from './commit-index.ts'
import { linkedFiles } from './digest.ts'
import { GitError, git, ObjectReader, refuseElsewhere, tryGit } from './git.ts'
import { digestPath } from './layout.ts'
import { branch, initialise } from './new-repository.ts'
import type { Sha } from './objects.ts'
import { GrowingPack } from './pack.ts'
import { Folder } from './tree.ts'

export interface Commit {
  readonly subject: string
  readonly at: number
  readonly files: readonly { readonly path: string; readonly text: string }[]
  /** One that is in the tree already is not written again: its path names its content. */
  readonly stored?: readonly StoredFile[]
  readonly removed?: readonly string[]
  /** The numbers that lead to this commit. */
  readonly about?: readonly { readonly noun: Exclude<Noun, 'topics'>; readonly id: number }[]
  /** Topics by their numbers, with their uids: once a topic is deleted, nothing else says which files were its. */
  readonly topics?: ReadonlyMap<number, string>
  /** The number of a topic that was deleted: its files leave. */
  readonly forgets?: number
}

/** Whose archive it is. */
export interface Owner {
  /** The id of the archive: its commits are told from other people's by it. */
  readonly id: string
  readonly author: { readonly name: string; readonly email: string }
}

/** The last line of every commit that Parley makes. */
const mark = ({ id }: Pick<Owner, 'id'>): string => `Archive: ${id}`

/** Beyond so many entries the folders are forgotten after a page, or in a pause, and read anew when they are needed. */
const [mostEntries, idleEntries] = [50_000, 5000]

/** Of the process that archives: it alone writes here. */
export class Repository {
  readonly #folder: string
  readonly #owner: Owner
  readonly #pack: GrowingPack
  #reader: ObjectReader | undefined
  #root: Folder | undefined
  #head: string | undefined
  /** The files as of the newest commit, as git names them all together. */
  #tree: string | undefined
  /** The commit whose files are checked out, if this process did that. */
  #shown: string | undefined
  #made: Sha | undefined
  #slots = new Map<Noun, Map<number, Buffer>>()

  private constructor(folder: string, owner: Owner) {
    this.#folder = folder
    this.#owner = owner
    this.#pack = new GrowingPack(join(folder, '.git'))
  }

  static async open(folder: string, owner: Owner): Promise<Repository> {
    refuseElsewhere(folder)
    // The last that is made of it: one that was cut off is made whole.
    if (statSync(ownFolder(folder), { throwIfNoEntry: false }) === undefined) initialise(folder)
    const repository = new Repository(folder, owner)
    await repository.#lookUp()
    return repository
  }

  /** Whether the newest commit is the one that this process knows: a person may have made one, or another process. */
  isCurrent(): boolean {
    return newestCommit(this.#folder) === this.#head
  }

  /** By the process that reads the folders afterwards. On a commit that cannot be read nothing is built: `keep` refuses it. */
  async #lookUp(): Promise<void> {
    const head = newestCommit(this.#folder)
    if (head === undefined || !/^[0-9a-f]{40}$/.test(head)) return
    try {
      const commit = await this.#readObject(Buffer.from(head, 'hex'))
      const [, tree] = /^tree ([0-9a-f]{40})\n/.exec(commit.toString()) ?? []
      if (tree !== undefined) [this.#head, this.#tree] = [head, tree]
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      this.close()
    }
  }

  /**
   * A commit on top of those before; nobody sees it until `keep`. One that changes no file is none: after a death the same
   * is asked for again.
   */
  async add(commit: Commit): Promise<void> {
    const { subject, at, files, stored = [], removed = [], about = [], topics, forgets } = commit
    const root = await this.#open()
    const gone = forgets === undefined ? removed : [...removed, ...(await this.#filesOfTopic(root, forgets))]
    for (const path of [...files.map(({ path }) => path), ...gone]) await this.#lookInto(root, path.split('/'))
    for (const { path, text } of files)
      root.put(path.split('/'), this.#pack.add({ type: 'blob', content: Buffer.from(text) }))
    for (const file of stored) await this.#store(root, file)
    for (const path of gone) root.put(path.split('/'), undefined)
    for (const [id, uid] of topics ?? []) this.#note('topics', id, Buffer.from(uid.padEnd(20)))
    const tree = (root.write(this.#pack) ?? this.#pack.add({ type: 'tree', content: Buffer.alloc(0) })).toString('hex')
    if (tree === this.#tree) return
    const parent = this.#made?.toString('hex') ?? this.#head
    const { name, email } = this.#owner.author
    const who = `${name} <${email}> ${Math.floor(at / 1000)} +0000`
    const message = about.find(({ noun }) => noun === 'messages')
    const lines = [
      `tree ${tree}`,
      ...(parent === undefined ? [] : [`parent ${parent}`]),
      `author ${who}`,
      `committer ${who}`,
      '',
      subject,
      '',
      ...(message === undefined ? [] : [`Message: ${message.id}`]),
      mark(this.#owner),
      '',
    ]
    this.#made = this.#pack.add({ type: 'commit', content: Buffer.from(lines.join('\n')) })
    this.#tree = tree
    for (const { noun, id } of about) this.#note(noun, id, this.#made)
  }

  async #store(root: Folder, { path, open }: StoredFile): Promise<void> {
    const names = path.split('/')
    if ((await this.#lookInto(root, names)).fileVersion(names.at(-1) ?? '') !== undefined) return
    const bytes = await open()
    const sha = bytes && (await writeBlob(join(this.#folder, '.git'), bytes))
    if (sha !== undefined) root.put(names, sha)
  }

  /** Its digest says which messages it had. */
  async #filesOfTopic(root: Folder, id: number): Promise<string[]> {
    const uid = (this.#slots.get('topics')?.get(id) ?? readSlots(slotsOf(this.#folder, 'topics'), [id]).get(id))
      ?.toString()
      .trimEnd()
    const files: string[] = []
    for (let part = 1; uid !== undefined; part++) {
      const path = digestPath(uid, part)
      const folder = await this.#lookInto(root, path.split('/'))
      const sha = folder.fileVersion(path.split('/').at(-1) ?? '')
      if (sha === undefined) break
      files.push(path, ...linkedFiles((await this.#readObject(sha)).toString()))
    }
    return files
  }

  #note(noun: Noun, id: number, sha: Sha): void {
    const slots = this.#slots.get(noun) ?? new Map()
    this.#slots.set(noun, slots.set(id, sha))
  }

  /** Makes the commits the newest of the repository: all of them or none. */
  async keep(): Promise<void> {
    if (this.#made === undefined) return
    this.#pack.keep()
    // First: after a death in between the same commits are made again, with the same names.
    for (const [noun, slots] of this.#slots) writeSlots(slotsOf(this.#folder, noun), slots)
    const sha = this.#made.toString('hex')
    writeFileSync(keptFile(this.#folder), sha)
    moveHead(this.#folder, this.#head, sha)
    this.#head = sha
    this.#made = undefined
    this.#slots = new Map()
    if ((this.#root?.size ?? 0) > mostEntries) this.#root = undefined
  }

  /**
   * Brings the files in the folder up to the newest commit, as git does. The first time, and where somebody has changed
   * them, they are put back as committed.
   */
  async checkOut(): Promise<void> {
    if (this.#head === undefined || this.#head === this.#shown) return
    const head = this.#head
    const moved =
      this.#shown !== undefined && (await tryGit(this.#folder, ['read-tree', '-m', '-u', this.#shown, head])).code === 0
    if (!moved) {
      removeStaleLock(this.#folder)
      await git(this.#folder, ['reset', '-q', '--hard', branch])
    }
    this.#shown = head
    writeFileSync(shownFile(this.#folder), head)
    // There is a pause: no process waits in vain, and no large folder is kept in memory.
    this.close()
    if ((this.#root?.size ?? 0) > idleEntries) this.#root = undefined
  }

  close(): void {
    this.#reader?.close()
    this.#reader = undefined
  }

  async #open(): Promise<Folder> {
    this.#root ??= this.#tree === undefined ? new Folder() : await this.#read(Buffer.from(this.#tree, 'hex'))
    return this.#root
  }

  /** The folder of a file. */
  async #lookInto(root: Folder, path: readonly string[]): Promise<Folder> {
    let folder = root
    for (const name of path.slice(0, -1)) {
      const version = folder.versionOf(name)
      folder =
        folder.folder(name) ?? folder.attach(name, version === undefined ? new Folder() : await this.#read(version))
    }
    return folder
  }

  async #read(sha: Sha): Promise<Folder> {
    return new Folder({ sha, content: await this.#readObject(sha) })
  }

  async #readObject(sha: Sha): Promise<Buffer> {
    this.#reader ??= new ObjectReader(this.#folder)
    return this.#reader.read(sha.toString('hex'))
  }
}

/** The newest commit, read without starting git: where Parley puts it, or where `git pack-refs` of a person does. */
export function newestCommit(folder: string): string | undefined {
  return (
    textOf(join(folder, '.git', branch))?.trim() ??
    textOf(join(folder, '.git', 'packed-refs'))
      ?.split('\n')
      .find((line) => line.endsWith(` ${branch}`))
      ?.slice(0, 40)
  )
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** As git does it, with its lock: a process of its own for this takes 5 ms. Throws if somebody else has moved it. */
function moveHead(folder: string, from: string | undefined, to: string): void {
  const path = join(folder, '.git', branch)
  mkdirSync(dirname(path), { recursive: true })
  const lock = openSync(`${path}.lock`, 'wx')
  try {
    if (newestCommit(folder) !== from) throw new GitError(`somebody else has made a commit in ${folder}`)
    writeSync(lock, `${to}\n`)
    fsyncSync(lock)
  } catch (error) {
    closeSync(lock)
    rmSync(`${path}.lock`, { force: true })
    throw error
  }
  closeSync(lock)
  renameSync(`${path}.lock`, path)
}

const shownFile = (folder: string): string => join(ownFolder(folder), 'shown')

/** The newest commit of Parley's own: whoever else commits has the files in the folder already. */
const keptFile = (folder: string): string => join(ownFolder(folder), 'kept')

/** Whether the files were checked out up to Parley's newest commit, or a death came in between. */
export const isShown = (folder: string): boolean =>
  textOf(shownFile(folder)) === (textOf(keptFile(folder)) ?? newestCommit(folder))

/** A git that was killed leaves its lock behind. One that runs holds it for seconds. */
const lockMs = 60_000

function removeStaleLock(folder: string): void {
  const lock = join(folder, '.git', 'index.lock')
  const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
  if (made !== undefined && systemClock.now() - made > lockMs) rmSync(lock, { force: true })
}
