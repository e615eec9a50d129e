/** A folder of a repository in memory: changed entry by entry, and written as the difference to its last version. */
import type { Edit, Sha } from './objects.ts'
import type { GrowingPack } from './pack.ts'

interface Entry {
  /** Its place in the order: git sorts folders as if their names ended with a slash. Names are ASCII. */
  readonly key: string
  readonly bytes: Buffer
}

/** Some hundred entries together: a change touches one of the groups, whatever the size of the folder. */
interface Group {
  entries: Entry[]
  bytes: Buffer
}

const groupSize = 512

const [fileMode, folderMode] = ['100644', '40000']

const bytesOf = (entries: readonly Entry[]): Buffer => Buffer.concat(entries.map(({ bytes }) => bytes))

/** The index of the first that is such, in a list where all behind it are such too; the length if none is. */
function firstWhere<Item>(list: readonly Item[], isSuch: (item: Item) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isSuch(list[middle] as Item)) high = middle
    else low = middle + 1
  }
  return low
}

/** How many bytes the first of them have. */
function lengthOf(entries: readonly Entry[], count: number): number {
  let length = 0
  for (let n = 0; n < count; n++) length += entries[n]?.bytes.length ?? 0
  return length
}

export class Folder {
  #sha: Sha | undefined
  #length = 0
  readonly #groups: Group[] = []
  /** Those that were looked into. */
  readonly #folders = new Map<string, Folder>()
  readonly #dirty = new Set<string>()
  /** The changes since the last version, by the key of their entry, in places of that version. */
  readonly #edits = new Map<string, Edit>()

  /** A version that is in the repository; without one, an empty folder. */
  constructor(version?: { readonly sha: Sha; readonly content: Buffer }) {
    if (version === undefined) return
    this.#sha = version.sha
    this.#length = version.content.length
    const entries = entriesOf(version.content)
    for (let at = 0; at < entries.length; at += groupSize) {
      const part = entries.slice(at, at + groupSize)
      this.#groups.push({ entries: part, bytes: bytesOf(part) })
    }
  }

  /** How many entries it holds, those of the folders in it included. */
  get size(): number {
    let size = 0
    for (const { entries } of this.#groups) size += entries.length
    for (const folder of this.#folders.values()) size += folder.size
    return size
  }

  /** The folder of that name, if it was looked into or made. */
  folder(name: string): Folder | undefined {
    return this.#folders.get(name)
  }

  /** The version of a folder that was not looked into yet; none if there is no such folder. */
  versionOf(name: string): Sha | undefined {
    return this.#find(`${name}/`)?.bytes.subarray(-20)
  }

  fileVersion(name: string): Sha | undefined {
    return this.#find(name)?.bytes.subarray(-20)
  }

  attach(name: string, folder: Folder): Folder {
    this.#folders.set(name, folder)
    return folder
  }

  /** Every folder on the way must have been attached. `undefined` removes the file. */
  put([name = '', ...rest]: readonly string[], sha: Sha | undefined): void {
    if (rest.length === 0) this.#set(name, sha && entryBytes(fileMode, name, sha))
    else {
      this.#dirty.add(name)
      this.#folders.get(name)?.put(rest, sha)
    }
  }

  /** The name of this version, with all folders in it; undefined if nothing is left. */
  write(pack: GrowingPack): Sha | undefined {
    for (const name of this.#dirty) {
      const sha = this.#folders.get(name)?.write(pack)
      this.#set(`${name}/`, sha && entryBytes(folderMode, name, sha))
      if (sha === undefined) this.#folders.delete(name)
    }
    this.#dirty.clear()
    if (this.#edits.size > 0) {
      const content = this.#groups.map(({ bytes }) => bytes)
      const edits = [...this.#edits].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, edit]) => edit)
      this.#sha = pack.addTree(content, this.#sha && { sha: this.#sha, length: this.#length, edits })
      this.#length = content.reduce((sum, part) => sum + part.length, 0)
      this.#edits.clear()
    }
    return this.#length === 0 ? undefined : this.#sha
  }

  #find(key: string): Entry | undefined {
    const { group, index } = this.#place(key)
    const found = this.#groups[group]?.entries[index]
    return found?.key === key ? found : undefined
  }

  /** The group and the index at which the key stands or would stand. */
  #place(key: string): { group: number; index: number } {
    const group = Math.max(0, firstWhere(this.#groups, ({ entries }) => (entries[0]?.key ?? '') > key) - 1)
    return { group, index: firstWhere(this.#groups[group]?.entries ?? [], (entry) => entry.key >= key) }
  }

  #set(key: string, bytes: Buffer | undefined): void {
    const { group: at, index } = this.#place(key)
    const group = this.#groups[at] ?? this.#begin()
    const old = group.entries[index]?.key === key ? group.entries[index] : undefined
    if (old === undefined ? bytes === undefined : bytes !== undefined && old.bytes.equals(bytes)) return
    this.#note(key, { at, index, old: old?.bytes.length ?? 0, bytes: bytes ?? Buffer.alloc(0) })
    const [from, length] = [lengthOf(group.entries, index), old?.bytes.length ?? 0]
    group.entries.splice(index, old === undefined ? 0 : 1, ...(bytes === undefined ? [] : [{ key, bytes }]))
    group.bytes = Buffer.concat([
      group.bytes.subarray(0, from),
      bytes ?? Buffer.alloc(0),
      group.bytes.subarray(from + length),
    ])
    if (group.entries.length > groupSize) {
      const second = group.entries.splice(groupSize / 2)
      this.#groups.splice(at + 1, 0, { entries: second, bytes: bytesOf(second) })
      group.bytes = bytesOf(group.entries)
    }
    if (group.entries.length === 0) this.#groups.splice(at, 1)
  }

  #begin(): Group {
    const group = { entries: [], bytes: Buffer.alloc(0) }
    this.#groups.push(group)
    return group
  }

  #note(key: string, change: { at: number; index: number; old: number; bytes: Buffer }): void {
    const known = this.#edits.get(key)
    if (known !== undefined) {
      // Made and removed since the last version: as if nothing had been.
      if (known.length === 0 && change.bytes.length === 0) this.#edits.delete(key)
      else this.#edits.set(key, { ...known, bytes: change.bytes })
      return
    }
    let place = lengthOf(this.#groups[change.at]?.entries ?? [], change.index)
    for (let n = 0; n < change.at; n++) place += this.#groups[n]?.bytes.length ?? 0
    for (const [other, { length, bytes }] of this.#edits) if (other < key) place -= bytes.length - length
    this.#edits.set(key, { at: place, length: change.old, bytes: change.bytes })
  }
}

const entryBytes = (mode: string, name: string, sha: Sha): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), sha])

function entriesOf(content: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < content.length; ) {
    const end = content.indexOf(0, at) + 21
    const head = content.toString('latin1', at, end - 21)
    const name = head.slice(head.indexOf(' ') + 1)
    entries.push({ key: head.startsWith(`${folderMode} `) ? `${name}/` : name, bytes: content.subarray(at, end) })
    at = end
  }
  return entries
}
