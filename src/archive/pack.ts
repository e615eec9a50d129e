/** A pack that grows: each time it is kept, a larger one replaces it, until it is large enough for another to begin. */
import { createHash, hash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { backwards, deflated, deltaOf, type Edit, type GitObject, packHeader, type Sha, shaOf } from './objects.ts'

interface Entry {
  /** The name of the object, a character a byte: such texts are compared three times faster than buffers. */
  readonly key: string
  readonly offset: number
  readonly crc: number
}

/** The version before, as far as it stands in this pack. */
interface Base {
  readonly sha: Sha
  readonly length: number
  readonly edits: readonly Edit[]
}

const headerSize = 12

/**
 * The directory of a busy month has thousands of entries, and each commit makes a new version of it. Only within one pack
 * can a version be told by its difference to the one before: a pack for each commit would hold it whole (200 KB of
 * 10,000 entries). Beyond this many links reading gets slow; git itself allows 4095.
 */
const longestChain = 500

/** A pack is sealed at this size, and later where it begins with large directories; it is written whole each time. */
const [smallestSeal, largestSeal] = [512 * 1024, 4 * 1024 * 1024]

export class GrowingPack {
  readonly #folder: string
  /** The bytes written, a part for each write. Joined, they would be copied with every page: megabytes that wait for a collection. */
  readonly #parts: Buffer[] = []
  /** Objects not written yet. */
  readonly #added: Buffer[] = []
  #entries = new Map<string, Entry>()
  /** In order, as far as they were kept. */
  #sorted: Entry[] = []
  #fresh: Entry[] = []
  #depths = new Map<string, number>()
  #size = headerSize
  /** Bytes of directories that had to be written whole. */
  #whole = 0
  #kept: string | undefined
  #changed = false

  constructor(gitFolder: string) {
    this.#folder = join(gitFolder, 'objects', 'pack')
  }

  has(sha: Sha): boolean {
    return this.#entries.has(keyOf(sha))
  }

  add({ type, content }: GitObject): Sha {
    const sha = shaOf(type, [content])
    if (this.has(sha)) return sha
    const data = deflated(content)
    if (type === 'tree') this.#whole += data.length
    this.#append(sha, [packHeader(type, content.length), data], 0)
    return sha
  }

  /** A tree by its difference to the version before, where that is in this pack and the difference is small. */
  addTree(content: readonly Buffer[], base: Base | undefined): Sha {
    const old = base && this.#entries.get(keyOf(base.sha))
    const depth = old === undefined ? 0 : (this.#depths.get(old.key) ?? 0) + 1
    const delta = base && old && depth <= longestChain ? deltaOf(base.length, base.edits) : undefined
    const length = content.reduce((sum, part) => sum + part.length, 0)
    if (old === undefined || delta === undefined || delta.length * 2 > length)
      return this.add({ type: 'tree', content: Buffer.concat(content) })
    const sha = shaOf('tree', content)
    if (this.has(sha)) return sha
    this.#append(sha, [packHeader('delta', delta.length), backwards(this.#size - old.offset), deflated(delta)], depth)
    return sha
  }

  #append(sha: Sha, parts: readonly Buffer[], depth: number): void {
    const bytes = Buffer.concat(parts)
    const entry = { key: keyOf(sha), offset: this.#size, crc: crc32(bytes) }
    this.#added.push(bytes)
    this.#fresh.push(entry)
    this.#entries.set(entry.key, entry)
    if (depth > 0) this.#depths.set(entry.key, depth)
    this.#size += bytes.length
    this.#changed = true
  }

  /** Writes the pack, and removes the smaller one that it replaces. The objects can be read from then on. */
  keep(): void {
    if (!this.#changed) return
    const header = Buffer.alloc(headerSize)
    header.write('PACK')
    header.writeUInt32BE(2, 4)
    header.writeUInt32BE(this.#entries.size, 8)
    this.#parts.push(Buffer.concat(this.#added.splice(0)))
    const sum = createHash('sha1').update(header)
    for (const part of this.#parts) sum.update(part)
    const trailer = sum.digest()
    const path = join(this.#folder, `pack-${trailer.toString('hex')}`)
    mkdirSync(this.#folder, { recursive: true })
    // Git takes a pack for there once its index is: hence that comes last.
    write(`${path}.pack`, [header, ...this.#parts, trailer])
    this.#sorted = merged(this.#sorted, this.#fresh.sort(byKey))
    this.#fresh = []
    write(`${path}.idx`, indexOf(this.#sorted, trailer))
    if (this.#kept !== undefined && this.#kept !== path)
      for (const end of ['.idx', '.pack']) rmSync(this.#kept + end, { force: true })
    this.#kept = path
    this.#changed = false
    if (this.#size < Math.min(largestSeal, smallestSeal + 4 * this.#whole)) return
    this.#parts.length = 0
    this.#entries = new Map()
    this.#sorted = []
    this.#depths = new Map()
    this.#size = headerSize
    this.#whole = 0
    this.#kept = undefined
  }
}

const keyOf = (sha: Sha): string => sha.toString('latin1')

const byKey = (one: Entry, other: Entry): number => (one.key < other.key ? -1 : 1)

function merged(one: readonly Entry[], other: readonly Entry[]): Entry[] {
  const all: Entry[] = []
  let n = 0
  for (const entry of other) {
    for (let next = one[n]; next !== undefined && next.key < entry.key; next = one[n]) {
      all.push(next)
      n++
    }
    all.push(entry)
  }
  return all.concat(one.slice(n))
}

function write(path: string, parts: readonly Buffer[]): void {
  // Git clears such files away after a while, should this process be killed.
  const file = join(path, '..', `tmp_pack_${process.pid}_${path.slice(-12)}`)
  const handle = openSync(file, 'w', 0o444)
  try {
    for (const part of parts) for (let at = 0; at < part.length; ) at += writeSync(handle, part, at)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(file, path)
}

/** The index of a pack, version 2: how many begin with each byte, the names in order, checksums, places. */
function indexOf(entries: readonly Entry[], trailer: Buffer): Buffer[] {
  const count = entries.length
  const index = Buffer.alloc(8 + 1024 + count * 28 + 20)
  index.writeUInt32BE(0xff744f63)
  index.writeUInt32BE(2, 4)
  const upTo = new Uint32Array(256)
  entries.forEach(({ key, crc, offset }, n) => {
    const byte = key.charCodeAt(0)
    upTo[byte] = n + 1
    index.write(key, 1032 + 20 * n, 20, 'latin1')
    index.writeUInt32BE(crc, 1032 + 20 * count + 4 * n)
    index.writeUInt32BE(offset, 1032 + 24 * count + 4 * n)
  })
  let most = 0
  upTo.forEach((number, byte) => {
    most = Math.max(most, number)
    index.writeUInt32BE(most, 8 + 4 * byte)
  })
  trailer.copy(index, index.length - 20)
  return [index, hash('sha1', index, 'buffer')]
}
