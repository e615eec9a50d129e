/** A folder of a repository in memory: changed entry by entry, and written as the difference to its last version. */
import type { Edit, Sha } from './objects.ts'
import type { GrowingPack } from './pack.ts'

interface Entry {
  /** Its place in the order: git sorts folders as if their names ended with a slash. Names are ASCII. */
  readonly key: string
  /** Bytes that it takes. */
  readonly length: number
}

/**
 * Some hundred entries together: a change touches one of the groups, whatever the size of the folder. Only the group that was
 * touched last has its entries as objects: a folder of 200,000 takes 11 MB as bytes, and 60 MB as objects and buffers.
 */
interface Group {
  first: string
  count: number
  /** The entries as git has them one after the other, and room for more: a change moves bytes within it, and leaves no old version. */
  room: Buffer
  length: number
  entries: Entry[] | undefined
}

const groupSize = 512

const [fileMode, folderMode] = ['100644', '40000']

/** Of so many whole entries, in bytes that nobody else changes. */
function groupOf(room: Buffer, count: number): Group {
  const first = count === 0 ? '' : entryAt(room, 0).key
  return { first, count, room, length: room.length, entries: undefined }
}

const bytesOf = ({ room, length }: Group): Buffer => room.subarray(0, length)

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

/** Other bytes in the place of so many from there on. */
function replaceBytes(group: Group, at: number, removed: number, bytes: Buffer): void {
  const length = group.length - removed + bytes.length
  if (length > group.room.length) {
    const room = Buffer.allocUnsafeSlow(length * 2)
    group.room.copy(room, 0, 0, group.length)
    group.room = room
  }
  group.room.copyWithin(at + bytes.length, at + removed, group.length)
  bytes.copy(group.room, at)
  group.length = length
}

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
  for (let n = 0; n < count; n++) length += entries[n]?.length ?? 0
  return length
}

export class Folder {
  #sha: Sha | undefined
  #length = 0
  readonly #groups: Group[]
  /** The group that was touched last. */
  #touched: Group | undefined
  /** Folders that were read or made. */
  readonly #folders = new Map<string, Folder>()
  readonly #dirty = new Set<string>()
  /** The changes since the last version, by the key of their entry, in places of that version. */
  readonly #edits = new Map<string, Edit>()

  /** A version that is in the repository; without one, an empty folder. */
  constructor(version?: { readonly sha: Sha; readonly content: Buffer }) {
    this.#groups = version === undefined ? [] : groupsOf(version.content)
    if (version === undefined) return
    this.#sha = version.sha
    this.#length = version.content.length
  }

  /** How many entries it holds, those of the folders in it included. */
  get size(): number {
    let size = 0
    for (const { count } of this.#groups) size += count
    for (const folder of this.#folders.values()) size += folder.size
    return size
  }

  /** The folder of that name, if it was looked into or made. */
  folder(name: string): Folder | undefined {
    return this.#folders.get(name)
  }

  /** The version of a folder that was not looked into yet; none if there is no such folder. */
  versionOf(name: string): Sha | undefined {
    return this.#find(`${name}/`)?.subarray(-20)
  }

  fileVersion(name: string): Sha | undefined {
    return this.#find(name)?.subarray(-20)
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
      const content = this.#groups.map(bytesOf)
      const edits = [...this.#edits].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, edit]) => edit)
      this.#sha = pack.addTree(content, this.#sha && { sha: this.#sha, length: this.#length, edits })
      this.#length = content.reduce((sum, part) => sum + part.length, 0)
      this.#edits.clear()
    }
    return this.#length === 0 ? undefined : this.#sha
  }

  /** A copy of the entry: its bytes move with the next change. */
  #find(key: string): Buffer | undefined {
    const { group: at, index } = this.#place(key)
    const group = this.#groups[at]
    const entries = group === undefined ? [] : this.#entries(group)
    const found = entries[index]
    if (group === undefined || found?.key !== key) return undefined
    const from = lengthOf(entries, index)
    return Buffer.from(group.room.subarray(from, from + found.length))
  }

  /** The group and the index at which the key stands or would stand. */
  #place(key: string): { group: number; index: number } {
    const at = Math.max(0, firstWhere(this.#groups, ({ first }) => first > key) - 1)
    const group = this.#groups[at]
    const entries = group === undefined ? [] : this.#entries(group)
    return { group: at, index: firstWhere(entries, (entry) => entry.key >= key) }
  }

  /** The entries of a group; those of the one touched before are let go, and its spare room with them. */
  #entries(group: Group): Entry[] {
    if (this.#touched !== group && this.#touched !== undefined) {
      const { room, length } = this.#touched
      this.#touched.entries = undefined
      if (room.length > length) this.#touched.room = copyOf(room.subarray(0, length))
    }
    this.#touched = group
    group.entries ??= entriesOf(bytesOf(group))
    return group.entries
  }

  #set(key: string, bytes: Buffer | undefined): void {
    const { group: at, index } = this.#place(key)
    const group = this.#groups[at] ?? this.#begin()
    const entries = this.#entries(group)
    const from = lengthOf(entries, index)
    const length = entries[index]?.key === key ? entries[index].length : 0
    const added = bytes ?? Buffer.alloc(0)
    if (added.equals(group.room.subarray(from, from + length))) return
    this.#note(key, { at, index, old: length, bytes: added })
    replaceBytes(group, from, length, added)
    entries.splice(index, length === 0 ? 0 : 1, ...(added.length === 0 ? [] : [{ key, length: added.length }]))
    group.count = entries.length
    group.first = entries[0]?.key ?? ''
    if (entries.length > groupSize) this.#split(at, group, entries)
    if (entries.length === 0) this.#groups.splice(at, 1)
  }

  #split(at: number, group: Group, entries: Entry[]): void {
    const second = entries.splice(groupSize / 2)
    const half = lengthOf(entries, entries.length)
    this.#groups.splice(at + 1, 0, groupOf(copyOf(group.room.subarray(half, group.length)), second.length))
    group.count = entries.length
    group.length = half
  }

  #begin(): Group {
    const group = groupOf(Buffer.alloc(0), 0)
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
    const group = this.#groups[change.at]
    let place = group === undefined ? 0 : lengthOf(this.#entries(group), change.index)
    for (let n = 0; n < change.at; n++) place += this.#groups[n]?.length ?? 0
    for (const [other, { length, bytes }] of this.#edits) if (other < key) place -= bytes.length - length
    this.#edits.set(key, { at: place, length: change.old, bytes: change.bytes })
  }
}

const entryBytes = (mode: string, name: string, sha: Sha): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), sha])

/** An entry ends with the zero behind its name and the 20 bytes of its version. */
const entryEnd = (content: Buffer, at: number): number => content.indexOf(0, at) + 21

function entryAt(content: Buffer, at: number): Entry {
  const end = entryEnd(content, at)
  const head = content.toString('latin1', at, end - 21)
  const name = head.slice(head.indexOf(' ') + 1)
  return { key: head.startsWith(`${folderMode} `) ? `${name}/` : name, length: end - at }
}

function entriesOf(content: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < content.length; at += entries.at(-1)?.length ?? 0) entries.push(entryAt(content, at))
  return entries
}

/** Parts of the content itself, without an object for each entry: a folder of 200,000 would take 50 MB more while it is read. */
function groupsOf(content: Buffer): Group[] {
  const groups: Group[] = []
  for (let from = 0; from < content.length; ) {
    let [to, count] = [from, 0]
    for (; count < groupSize && to < content.length; count++) to = entryEnd(content, to)
    groups.push(groupOf(content.subarray(from, to), count))
    from = to
  }
  return groups
}
