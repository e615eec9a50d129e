/** Files of any bytes as git's objects: read, hashed and written part by part, and never whole in memory. */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { constants, deflateRawSync } from 'node:zlib'
import { adler32, type Sha } from './objects.ts'

interface Bytes {
  readonly size: number
  readonly parts: AsyncIterable<Uint8Array>
}

/** A file that is named by its content. Its bytes are read only where they are needed. */
export interface StoredFile {
  readonly path: string
  /** Undefined if there is no such file. */
  readonly open: () => Promise<Bytes | undefined>
}

const headOf = (size: number): Buffer => Buffer.from(`blob ${size}\0`)

/** The name of the object; undefined if the parts have another size than was told. */
export async function shaOfBytes({ size, parts }: Bytes, take = (_: Uint8Array) => {}): Promise<Sha | undefined> {
  const sum = createHash('sha1').update(headOf(size))
  take(headOf(size))
  let length = 0
  for await (const part of parts) {
    sum.update(part)
    take(part)
    length += part.length
  }
  return length === size ? sum.digest() : undefined
}

/** The name that the object of a file in a folder would have. */
export function shaOfFile(path: string): Sha {
  const handle = openSync(path, 'r')
  try {
    const sum = createHash('sha1').update(headOf(fstatSync(handle).size))
    const part = Buffer.allocUnsafe(64 * 1024)
    for (let length = readSync(handle, part); length > 0; length = readSync(handle, part))
      sum.update(part.subarray(0, length))
    return sum.digest()
  } finally {
    closeSync(handle)
  }
}

/**
 * Writes an object as a file of its own: a pack that grows would hold it in memory, and write it again each time. Nothing
 * is written of bytes that have another size than was told.
 */
export async function writeBlob(gitFolder: string, bytes: Bytes): Promise<Sha | undefined> {
  const objects = join(gitFolder, 'objects')
  // `git prune` clears such files away, should this process be killed.
  const file = join(objects, `tmp_obj_${process.pid}_${threadId}`)
  rmSync(file, { force: true })
  const handle = openSync(file, 'wx', 0o444)
  const write = (part: Buffer) => {
    for (let at = 0; at < part.length; ) at += writeSync(handle, part, at)
  }
  let check = 1
  let sha: Sha | undefined
  try {
    write(streamHead)
    sha = await shaOfBytes(bytes, (part) => {
      check = adler32(part, check)
      write(deflatedPart(part))
    })
    write(streamEnd(check))
    fsyncSync(handle)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
  if (sha === undefined) rmSync(file, { force: true })
  else {
    const name = sha.toString('hex')
    const path = join(objects, name.slice(0, 2), name.slice(2))
    mkdirSync(dirname(path), { recursive: true })
    renameSync(file, path)
  }
  return sha
}

const streamHead = Buffer.from([0x78, 0x01])

/** Each part is deflated for itself, on this thread: a stream of zlib works on the threads that requests need, too. */
const deflatedPart = (part: Uint8Array): Buffer =>
  deflateRawSync(part, { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH })

/** An empty last block, and the checksum. */
function streamEnd(check: number): Buffer {
  const end = Buffer.from([3, 0, 0, 0, 0, 0])
  end.writeUInt32BE(check, 2)
  return end
}
