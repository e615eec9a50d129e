/** Making a backup: the archives first, then the database as of one moment, as one tar file. Nobody waits for it. */
import { createHash } from 'node:crypto'
import { projectFolders } from '../../archive/archive.ts'
import { tarEnd, tarHeader, tarPadding } from '../../base/tar.ts'
import type { Reader } from '../../db/port.ts'
import {
  columnsOf,
  countRows,
  keptTables,
  listLastIds,
  listMigrationIds,
  listRowsAfter,
  listTables,
  type Row,
  type Table,
} from '../../store/tables.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { type Hub, snapshot } from '../hub/hub.ts'
import { type OpenFile, openArchive, openState, whileArchivesStand } from './archives.ts'
import { type Manifest, manifestName, newManifest, type Part } from './manifest.ts'

/** Told how many of how many rows are done. */
export type Progress = (done: number, total: number) => void

export interface BackingUp {
  /** Where the archives of the projects are. */
  readonly archives: string
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
  await whileArchivesStand(hub, to.archives, async (turn) => {
    const state = await openState(to.archives)
    // Listed only now: the state tells of every project that was archived before this turn.
    archives.push(...projectFolders(to.archives).sort())
    for (const project of archives) {
      for (const file of await openArchive(to.archives, project)) {
        await turn.goOn()
        await tar.addFile(file)
      }
    }
    if (state !== undefined) await tar.addFile(state)
  })
  return snapshot(hub, async (db) => {
    const there = new Set(await listTables(db))
    const tables = keptTables.filter(({ name }) => there.has(name))
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
    const manifest = newManifest({
      parley: to.parley,
      created_at: new Date(hub.clock.now()).toISOString(),
      engine: db.dialect,
      migrations: await listMigrationIds(db),
      last_ids: await listLastIds(db),
      counts,
      archives,
      parts: tar.parts,
    })
    await tar.add(manifestName, Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`))
    await to.write(tarEnd)
    return manifest
  })
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
  readonly #write: BackingUp['write']
  readonly #at: number

  constructor(write: BackingUp['write'], at: number) {
    this.#write = write
    this.#at = at
  }

  async add(name: string, bytes: Buffer): Promise<void> {
    await this.#write(tarHeader(name, bytes.length, this.#at))
    await this.#write(bytes)
    await this.#end(name, bytes.length, createHash('sha256').update(bytes).digest('hex'))
  }

  /** As far as it was written when it was opened. */
  async addFile({ name: path, size, handle }: OpenFile): Promise<void> {
    const name = `projects/${path}`
    const hash = createHash('sha256')
    try {
      await this.#write(tarHeader(name, size, this.#at))
      if (size > 0)
        for await (const piece of handle.createReadStream({
          end: size - 1,
          autoClose: false,
        }) as AsyncIterable<Buffer>) {
          hash.update(piece)
          await this.#write(piece)
        }
    } finally {
      await handle.close()
    }
    await this.#end(name, size, hash.digest('hex'))
  }

  async #end(name: string, bytes: number, sha256: string): Promise<void> {
    await this.#write(tarPadding(bytes))
    this.parts.push({ name, bytes, sha256 })
  }
}
