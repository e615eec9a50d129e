/** Tar files, as far as backups need them: plain files with their names and sizes, written and read as streams. */

const block = 512

/** Names up to here, and sizes below 8 GiB, fit the old header; others get an extended one before it. */
const shortName = 100
const shortSize = 0o77777777777

/** The header of a file, to be followed by its bytes and `padding`. `at` is in milliseconds. */
export function tarHeader(name: string, size: number, at: number): Buffer {
  const long = Buffer.byteLength(name) > shortName || size > shortSize
  if (!long) return header({ name, size, at, type: '0' })
  const records = Buffer.from(record('path', name) + record('size', String(size)))
  return Buffer.concat([
    header({ name: 'extended', size: records.length, at, type: 'x' }),
    records,
    tarPadding(records.length),
    header({ name: name.slice(0, shortName / 4), size: Math.min(size, shortSize), at, type: '0' }),
  ])
}

/** Fills the last block of a file. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((block - (size % block)) % block)

/** The end of a tar file. */
export const tarEnd = Buffer.alloc(2 * block)

interface Fields {
  readonly name: string
  readonly size: number
  readonly at: number
  readonly type: '0' | 'x'
}

function header({ name, size, at, type }: Fields): Buffer {
  const bytes = Buffer.alloc(block)
  const octal = (value: number, width: number) => value.toString(8).padStart(width - 1, '0')
  bytes.write(name, 0, shortName)
  bytes.write(octal(0o600, 8), 100)
  bytes.write(octal(0, 8), 108)
  bytes.write(octal(0, 8), 116)
  bytes.write(octal(size, 12), 124)
  bytes.write(octal(Math.floor(at / 1000), 12), 136)
  bytes.write(' '.repeat(8), 148)
  bytes.write(type, 156)
  bytes.write('ustar\x0000', 257, 'latin1')
  bytes.write(`${octal(sum(bytes), 7)}\0 `, 148, 'latin1')
  return bytes
}

const sum = (bytes: Buffer): number => bytes.reduce((total, byte) => total + byte, 0)

/** `<length> <key>=<value>\n`, where the length counts its own digits too. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (rest + String(length).length > length) length++
  return `${length} ${key}=${value}\n`
}

export class TarError extends Error {
  override readonly name = 'TarError'
}

export interface TarEntry {
  readonly name: string
  readonly size: number
  /** Its bytes. What is not read before the next entry is asked for is passed over. */
  body(): AsyncGenerator<Buffer>
}

/** Throws a TarError where it ends too early, or is no tar file. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = new Bytes(source)
  let extended: ReadonlyMap<string, string> = new Map()
  for (;;) {
    const head = await bytes.whole(block)
    if (head.every((byte) => byte === 0)) {
      // The rest is read as well: a checksum of the compression stands behind it.
      for await (const _ of bytes.rest());
      return
    }
    const { name, size, type } = parse(head)
    if (type === 'x') {
      extended = recordsIn(await bytes.whole(size))
      await bytes.whole(tarPadding(size).length)
      continue
    }
    const length = Number(extended.get('size') ?? size)
    let left = length
    async function* body(): AsyncGenerator<Buffer> {
      while (left > 0) {
        const piece = await bytes.some(left)
        left -= piece.length
        yield piece
      }
    }
    yield { name: extended.get('path') ?? name, size: length, body }
    extended = new Map()
    for await (const _ of body());
    await bytes.whole(tarPadding(length).length)
  }
}

function parse(head: Buffer): { name: string; size: number; type: string } {
  const text = (from: number, to: number) => head.toString('utf8', from, to).replace(/\0.*$/s, '')
  const check = Number.parseInt(text(148, 156), 8)
  const blank = Buffer.from(head).fill(' ', 148, 156)
  const size = Number.parseInt(text(124, 136), 8)
  if (check !== sum(blank) || Number.isNaN(size)) throw new TarError('it is damaged, or no tar file')
  return { name: text(0, shortName), size, type: text(156, 157) }
}

function recordsIn(bytes: Buffer): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const length = Number.parseInt(bytes.toString('utf8', at, at + 20), 10)
    if (!(length > 0)) throw new TarError('it is damaged')
    const [, key = '', value = ''] = /^\d+ ([^=]+)=(.*)\n$/s.exec(bytes.toString('utf8', at, at + length)) ?? []
    found.set(key, value)
    at += length
  }
  return found
}

/** A stream of bytes, taken in pieces of wanted sizes. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>
  #piece: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** At least one byte, and at most so many. */
  async some(most: number): Promise<Buffer> {
    while (this.#piece.length === 0) {
      const { done, value } = await this.#source.next()
      if (done) throw new TarError('it ends too early')
      this.#piece = value
    }
    const taken = this.#piece.subarray(0, most)
    this.#piece = this.#piece.subarray(taken.length)
    return taken
  }

  async whole(size: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let left = size; left > 0; left -= pieces.at(-1)?.length ?? 0) pieces.push(await this.some(left))
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
  }

  async *rest(): AsyncGenerator<Buffer> {
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done) return
      yield value
    }
  }
}
