/** Git's objects as bytes: their names, and how a pack holds them. */
import { createHash, hash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

type ObjectType = 'commit' | 'tree' | 'blob'

export interface GitObject {
  readonly type: ObjectType
  readonly content: Buffer
}

/** The 20 bytes by which git knows an object. */
export type Sha = Buffer

export function shaOf(type: ObjectType, parts: readonly Buffer[]): Sha {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const head = Buffer.from(`${type} ${length}\0`)
  // One call is the faster for little, many updates for much: they copy nothing.
  if (length < 4096) return hash('sha1', Buffer.concat([head, ...parts]), 'buffer')
  const sum = createHash('sha1').update(head)
  for (const part of parts) sum.update(part)
  return sum.digest()
}

/** Types of entries in a pack (gitformat-pack). */
const packTypes: Readonly<Record<ObjectType | 'delta', number>> = { commit: 1, tree: 2, blob: 3, delta: 6 }

/** Type and size, in the way that an entry of a pack begins. */
export function packHeader(type: ObjectType | 'delta', size: number): Buffer {
  const bytes: number[] = []
  let [first, rest] = [(packTypes[type] << 4) | (size & 15), Math.floor(size / 16)]
  while (rest > 0) {
    bytes.push(first | 128)
    first = rest & 127
    rest = Math.floor(rest / 128)
  }
  bytes.push(first)
  return Buffer.from(bytes)
}

/** How far before an entry its base stands. */
export function backwards(distance: number): Buffer {
  const bytes = [distance & 127]
  let rest = Math.floor(distance / 128)
  while (rest > 0) {
    rest--
    bytes.unshift((rest & 127) | 128)
    rest = Math.floor(rest / 128)
  }
  return Buffer.from(bytes)
}

/** Below this, deflating costs 25 µs and saves nothing: hashes do not shrink. */
const storedBelow = 120

/** A small text needs no large memory: clearing it takes longer than deflating. */
const [smallBelow, small] = [4096, { windowBits: 12, memLevel: 5 }]

/**
 * Room for all that comes of a text, which grows by some bytes at most. Node takes it in pieces of 16 KB otherwise, which stay
 * until a collection: the fifteen objects of a message left 240 KB, and a busy archive 900 MB.
 */
const roomFor = (length: number): number => length + (length >> 10) + 64

/** As zlib reads it: deflated, or for a few bytes as they are. */
export function deflated(content: Buffer): Buffer {
  const chunkSize = roomFor(content.length)
  if (content.length >= smallBelow) return deflateSync(content, { chunkSize })
  if (content.length >= storedBelow) return deflateSync(content, { ...small, chunkSize })
  const head = Buffer.from([0x78, 0x01, 0x01, content.length, 0, ~content.length & 255, 255])
  const tail = Buffer.allocUnsafe(4)
  tail.writeUInt32BE(adler32(content))
  return Buffer.concat([head, content, tail])
}

/** The checksum of zlib; it goes on from that of what came before. */
export function adler32(content: Uint8Array, before = 1): number {
  let [a, b] = [before % 65_536, Math.floor(before / 65_536)]
  for (const byte of content) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return b * 65_536 + a
}

/** Bytes of the old version that give way to other bytes in the new one. */
export interface Edit {
  readonly at: number
  readonly length: number
  readonly bytes: Buffer
}

/** The new version as copies of the old one and insertions; the edits are in order and do not touch each other. */
export function deltaOf(oldLength: number, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = []
  let [from, newLength] = [0, oldLength]
  for (const { at, length, bytes } of edits) {
    copy(parts, from, at - from)
    insert(parts, bytes)
    from = at + length
    newLength += bytes.length - length
  }
  copy(parts, from, oldLength - from)
  return Buffer.concat([varint(oldLength), varint(newLength), ...parts])
}

const longestCopy = 0xffffff

function copy(parts: Buffer[], from: number, length: number): void {
  for (let done = 0; done < length; done += longestCopy) {
    const [at, size] = [from + done, Math.min(longestCopy, length - done)]
    const bytes = [0]
    let command = 128
    for (let n = 0; n < 7; n++) {
      const byte = n < 4 ? Math.floor(at / 256 ** n) & 255 : Math.floor(size / 256 ** (n - 4)) & 255
      if (byte === 0) continue
      command |= 1 << n
      bytes.push(byte)
    }
    bytes[0] = command
    parts.push(Buffer.from(bytes))
  }
}

function insert(parts: Buffer[], bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += 127) {
    const part = bytes.subarray(at, at + 127)
    parts.push(Buffer.from([part.length]), part)
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}
