/** Making a backup: the archives first, then the database as of one moment, then exports of moved mail, as one tar file. Nobody waits for it. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import { projectFolders } from '../../archive/archive.ts'
import { HubError } from '../../base/errors.ts'
import { engineOf } from '../../db/dialect.ts'
import { migrations } from '../../db/migrations/all.ts'
import type { Reader } from '../../db/port.ts'
import {
  columnsOf,
  countRows,
  keptTables,
  leftOut,
  listLastIds,
  listMigrationIds,
  listRowsAfter,
  listTables,
  type Row,
  type Table,
} from '../../store/exports/tables.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { type Hub, snapshot } from '../hub/hub.ts'
import { type OpenFile, openArchive, openExports, openState, whileArchivesStand } from './archives.ts'
import { type Manifest, manifestName, newManifest, type Part } from './manifest.ts'

/** Told how many of how many rows are done. */
export type Progress = (done: number, total: number) => void

export interface BackingUp {
  /** Where the archives of the projects are. */
  readonly archives: string
  /** Where exports of mail that was moved out are. */
  readonly exports?: string
  /** The version of this Parley. */
  readonly parley: string
  /** Takes the next bytes of the file; resolves once there is room for more. */
  write(bytes: Buffer): Promise<void>
  readonly progress?: Progress
}

/** A message may have a megabyte: so many are held at once. */
const rowsAtOnce = 200
const partBytes = 4_000_000

export async function backUp(hub: Hub, caller: Caller, to: BackingUp): Promise<Manifest> {
  needSteering(caller)
  const tar = new TarFile(to.write, hub.clock.now())
  const archives: string[] = []
  // First: what the archives lack of the database is made up for by the feed, never the other way round.
  await whileArchivesStand(hub, to.archives, async (job) => {
    const state = await openState(to.archives)
    // Listed only now: the state tells of every project that was archived before this lease.
    archives.push(...projectFolders(to.archives).sort())
    for (const project of archives) {
      for (const file of await openArchive(to.archives, project)) {
        await job.renew()
        await tar.addFile('projects', file)
      }
    }
    if (state !== undefined) await tar.addFile('projects', state)
  })
  return snapshot(hub, async (db) => {
    const there = new Set(await listTables(db))
    const tables = keptTables.filter(({ name }) => there.has(name))
    await needAllTables(db, there)
    const counts: Record<string, number> = {}
    for (const { name } of tables) counts[name] = await countRows(db, name)
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    let done = 0
    for (const table of tables)
      for await (const { text, rows } of partsOf(db, table)) {
        await tar.add(`database/${table.name}/${String(tar.parts.length).padStart(6, '0')}.jsonl`, Buffer.from(text))
        done += rows
        to.progress?.(done, total)
      }
    // Last: mail that moved out before this moment is in an export by now.
    if (to.exports !== undefined) for (const file of await openExports(to.exports)) await tar.addFile('retention', file)
    const manifest = newManifest({
      parley: to.parley,
      created_at: new Date(hub.clock.now()).toISOString(),
      engine: engineOf(db),
      migrations: await listMigrationIds(db),
      last_ids: await listLastIds(db),
      counts,
      archives,
      parts: tar.parts,
    })
    await tar.add(manifestName, Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`))
    await tar.end()
    return manifest
  })
}

/** A node may run on a newer schema; a backup without the tables of that would look whole, and not be (upgrade.beside.backup). */
async function needAllTables(db: Reader, there: ReadonlySet<string>): Promise<void> {
  const ids = new Set(migrations.map(({ id }) => id))
  if ((await listMigrationIds(db)).every((id) => ids.has(id))) return
  const unknown = [...there].filter((name) => !leftOut(name) && !keptTables.some((table) => table.name === name))
  if (unknown.length === 0) return
  throw new HubError(
    'DB_SCHEMA_MISMATCH',
    'The database has tables of a newer Parley, which this one cannot back up.',
    {
      hint: 'Make the backup with the newer Parley.',
    },
  )
}

/** A line with the columns, then a line for each row. */
async function* partsOf(db: Reader, table: Table): AsyncGenerator<{ text: string; rows: number }> {
  let columns: string[] = []
  let text = ''
  let rows = 0
  for (let last: Row | undefined; ; ) {
    const page = await listRowsAfter(db, table, last, rowsAtOnce)
    last = page.at(-1)
    if (last !== undefined && text === '') {
      columns = columnsOf(table, last)
      text = `${JSON.stringify(columns)}\n`
    }
    for (const row of page) text += `${JSON.stringify(columns.map((column) => toJson(row[column])))}\n`
    rows += page.length
    const ended = page.length < rowsAtOnce
    if (text.length >= partBytes || (ended && rows > 0)) {
      yield { text, rows }
      text = ''
      rows = 0
    }
    if (ended) return
  }
}

/** Bytes, as of attachments. */
const toJson = (value: unknown): unknown =>
  value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value

/** A tar file in the making. */
class TarFile {
  readonly parts: Part[] = []
  readonly #pack = pack()
  /** Fails where a part does, with the first reason. */
  readonly #written: Promise<void>
  readonly #at: Date

  constructor(write: BackingUp['write'], at: number) {
    this.#at = new Date(at)
    this.#written = writeAll(this.#pack as AsyncIterable<Buffer>, write)
    // Thrown by the part that is under way, or by the end.
    this.#written.catch(() => {})
  }

  add(name: string, bytes: Buffer): Promise<void> {
    return this.#addPieces(name, bytes.length, [bytes])
  }

  /** As far as it was written when it was opened. */
  async addFile(folder: string, { name, size, handle }: OpenFile): Promise<void> {
    const pieces = size === 0 ? [] : handle.createReadStream({ end: size - 1, autoClose: false })
    try {
      await this.#addPieces(`${folder}/${name}`, size, pieces)
    } finally {
      await handle.close()
    }
  }

  async end(): Promise<void> {
    this.#pack.finalize()
    await this.#written
  }

  async #addPieces(name: string, size: number, pieces: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
    const hash = createHash('sha256')
    async function* hashed() {
      for await (const piece of pieces) {
        hash.update(piece)
        yield piece
      }
    }
    const entry = this.#pack.entry({ name, size, mtime: this.#at, mode: 0o600 })
    try {
      await pipeline(Readable.from(hashed()), entry)
    } catch (error) {
      await this.#written
      throw error
    }
    this.parts.push({ name, bytes: size, sha256: hash.digest('hex') })
  }
}

async function writeAll(tar: AsyncIterable<Buffer>, write: BackingUp['write']): Promise<void> {
  for await (const piece of tar) await write(piece)
}
