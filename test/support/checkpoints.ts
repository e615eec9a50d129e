/** A SQLite file as a process leaves it that dies inside of a checkpoint: pages of the log are in it, up to any step. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

/** https://www.sqlite.org/fileformat2.html#walformat */
const [logHeader, frameHeader] = [32, 24]

interface Image {
  readonly main: Buffer
  readonly log: Buffer
  readonly index: Buffer
}

/** The files of a database that is open, between two transactions. */
export const imageOf = (file: string): Image => ({
  main: readFileSync(file),
  log: readFileSync(`${file}-wal`),
  index: readFileSync(`${file}-shm`),
})

interface Page {
  readonly number: number
  readonly content: Buffer
}

const known = new WeakMap<Image, Page[]>()

/** The newest content of each page in the log, in the order in which a checkpoint copies them. */
export function pagesOf(image: Image): Page[] {
  const pages = known.get(image) ?? pagesIn(image)
  known.set(image, pages)
  return pages
}

function pagesIn({ log }: Image): Page[] {
  const pageSize = log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  const pages = new Map<number, Buffer>()
  for (let at = logHeader; at + frameHeader + pageSize <= log.length; at += frameHeader + pageSize) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break
    pages.set(log.readUInt32BE(at), log.subarray(at + frameHeader, at + frameHeader + pageSize))
  }
  return [...pages].sort(([a], [b]) => a - b).map(([number, content]) => ({ number, content }))
}

/** The shared memory after the death: as it was, gone, that of another moment, or garbage. */
export const indexes = ['kept', 'missing', 'stale', 'garbage'] as const

export interface Death {
  /** So many pages are copied, and of the next one half. */
  readonly copied: number
  readonly torn: boolean
  readonly index: (typeof indexes)[number]
}

export function leaveDead(file: string, image: Image, { copied, torn, index }: Death): void {
  const pages = pagesOf(image)
  const whole = pages.slice(0, copied)
  const next = torn ? pages[copied] : undefined
  const half = next && { number: next.number, content: next.content.subarray(0, next.content.length / 2) }
  const pageSize = pages[0]?.content.length ?? 0
  const copies = (half === undefined ? whole : [...whole, half]).map(({ number, content }) => ({
    at: (number - 1) * pageSize,
    content,
  }))
  const main = Buffer.alloc(Math.max(image.main.length, ...copies.map(({ at, content }) => at + content.length)))
  image.main.copy(main)
  for (const { at, content } of copies) content.copy(main, at)
  writeFileSync(file, main)
  writeFileSync(`${file}-wal`, image.log)
  rmSync(`${file}-shm`, { force: true })
  if (index !== 'missing') writeFileSync(`${file}-shm`, remains(image.index, index))
}

function remains(index: Buffer, kind: Death['index']): Buffer {
  if (kind === 'kept') return index
  if (kind === 'garbage') return Buffer.alloc(index.length, 0xa5)
  // The header comes twice and says how many frames there are: here, fewer.
  const stale = Buffer.from(index)
  for (const at of [16, 48 + 16]) stale.writeUInt32LE(Math.max(0, stale.readUInt32LE(at) - 3), at)
  return stale
}

/** All steps of the copying, with each of the indexes: `count` of them, evenly spread. */
export function deaths(image: Image, count: number): Death[] {
  const steps = pagesOf(image).length
  return Array.from({ length: count }, (_, n) => ({
    copied: Math.floor(n / 2) % (steps + 1),
    torn: n % 2 === 1,
    index: indexes[Math.floor(n / 8 + n / 2) % indexes.length] ?? 'kept',
  }))
}
