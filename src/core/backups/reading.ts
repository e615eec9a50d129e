/** Restoring a backup: it is read to its end and checked before anything is changed. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { stateFile } from '../../archive/archive.ts'
import { configure } from '../../archive/new-repository.ts'
import type { Clock } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { can, engineOf } from '../../db/dialect.ts'
import { migrateIn } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/all.ts'
import type { Db, Tx } from '../../db/port.ts'
import { deleteAllRows, dropTables, feedTables, insertRows, updateLastId } from '../../store/exports/tables.ts'
import { exportName } from './archives.ts'
import { damaged, type Manifest, manifestName, type Part, readManifest } from './manifest.ts'
import type { Progress } from './writing.ts'

interface TarEntry {
  readonly name: string
  readonly size: number
  /** Its bytes; those that nobody read before the next entry are passed over. */
  body(): AsyncGenerator<Buffer>
}

async function* entriesOf(file: string): AsyncGenerator<TarEntry> {
  const tar = extract()
  const read = pipeline(createReadStream(file), createGunzip(), tar)
  // Thrown by the entry that is under way, or at the end.
  read.catch(() => {})
  try {
    for await (const entry of tar) {
      const { name, size = 0 } = entry.header
      async function* body(): AsyncGenerator<Buffer> {
        yield* entry as AsyncIterable<Buffer>
      }
      yield { name, size, body }
      entry.resume()
    }
    // To its end: the checksum of the compression stands there.
    await read
  } finally {
    tar.destroy()
  }
}

function explained(error: unknown, file: string): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code.startsWith('Z_')) return damaged(file, `it is damaged or cut off (${message})`, error)
  if (code === 'ENOENT')
    return new HubError('NOT_FOUND', `There is no file ${file}.`, { hint: 'Name the file that `parley backup` wrote.' })
  // tar-stream has no codes: its errors are plain ones.
  if (code === '' && (error as Error).name === 'Error')
    return damaged(file, 'it is damaged, cut off, or no tar file', error)
  return error
}

/** Compares every part with its checksum; changes nothing. */
export async function checkBackup(file: string): Promise<Manifest> {
  try {
    return await check(file)
  } catch (error) {
    throw explained(error, file)
  }
}

async function check(file: string): Promise<Manifest> {
  const found = new Map<string, Part>()
  let manifest: Manifest | undefined
  for await (const { name, size, body } of entriesOf(file)) {
    if (name === manifestName) {
      manifest = readManifest((await buffer(body())).toString(), file)
      continue
    }
    const hash = createHash('sha256')
    for await (const piece of body()) hash.update(piece)
    found.set(name, { name, bytes: size, sha256: hash.digest('hex') })
  }
  if (manifest === undefined) throw damaged(file, 'it has no manifest, as one that was cut off')
  for (const { name, sha256 } of manifest.parts) {
    const part = found.get(name)
    if (part === undefined) throw damaged(file, `${name} is missing`)
    if (part.sha256 !== sha256) throw damaged(file, `${name} is not as it was written: its checksum is another`)
  }
  if (found.size > manifest.parts.length) throw damaged(file, 'it holds files that its manifest does not know')
  const known = new Set(migrations.map(({ id }) => id))
  if (manifest.migrations.some((id) => !known.has(id)))
    throw new HubError('DB_SCHEMA_MISMATCH', `${file} is of a newer Parley (${manifest.parley}).`, {
      hint: 'Nothing was changed. Update this Parley, then restore.',
    })
  return manifest
}

interface Restoring {
  readonly file: string
  readonly manifest: Manifest
  readonly clock: Clock
  /** Whether the tables that are there go. */
  readonly replace: boolean
  readonly progress?: Progress
}

/** Runs a part of the work in a transaction. */
type Run = (work: (tx: Tx) => Promise<unknown>) => Promise<unknown>

/**
 * The schema is that of the backup at first, and then brought up to date. It is one transaction where a unit of work may wait
 * for a file to be read. Elsewhere it is many, and the caller gives a database that nobody uses yet.
 */
export async function restoreDatabase(db: Db, restoring: Restoring): Promise<void> {
  if (can(db).patientUnits) await db.tx((tx) => restoreRows(db, restoring, (work) => work(tx)), { unhurried: true })
  else await restoreRows(db, restoring, (work) => db.tx(work, { unhurried: true }))
}

async function restoreRows(db: Db, { file, manifest, clock, replace, progress }: Restoring, run: Run): Promise<void> {
  const total = Object.values(manifest.counts).reduce((sum, count) => sum + count, 0)
  const old = migrations.filter(({ id }) => manifest.migrations.includes(id))
  await run(async (tx) => {
    if (replace) await dropTables(tx)
    await migrateIn(tx, old, clock)
    await deleteAllRows(tx)
  })
  let done = 0
  for await (const entry of entriesOf(file)) {
    const table = tableOf(entry)
    if (table === undefined) continue
    const { columns, rows } = await rowsOf(entry)
    if (!isSkipped(table, db, manifest)) await run((tx) => insertRows(tx, table, columns, rows))
    done += rows.length
    progress?.(done, total)
  }
  await run(async (tx) => {
    for (const [table, last] of Object.entries(manifest.last_ids))
      if (!isSkipped(table, db, manifest)) await updateLastId(tx, table, last)
    await migrateIn(tx, migrations, clock)
  })
}

/** Another engine counts the changes in its own way: the feed begins anew there. */
const isSkipped = (table: string, db: Db, { engine }: Manifest): boolean =>
  engineOf(db) !== engine && feedTables.has(table)

const tableOf = ({ name }: TarEntry): string | undefined => /^database\/([^/]+)\//.exec(name)?.[1]

async function rowsOf({ body }: TarEntry): Promise<{ columns: string[]; rows: unknown[][] }> {
  const text = (await buffer(body())).toString()
  const [columns = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as unknown[]).map(fromJson))
  return { columns: columns as string[], rows }
}

const fromJson = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'base64' in value ? Buffer.from(String(value.base64), 'base64') : value

/** Of a repository its objects and refs, and what Parley notes there itself. */
const taken =
  /^([^./][^/]*)\/\.git\/(?:objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.(?:pack|idx|rev))|packed-refs|(refs\/(?:heads|tags)\/(?!.*\.lock$)[\w./-]+)|parley\/(?:kept|messages|agents|leases|topics))$/

/**
 * Into a folder that is empty or absent. None of the settings comes along, since they can start programs and lead elsewhere:
 * they are written anew (cli.restore.tampered).
 */
export async function restoreArchives(file: string, folder: string): Promise<void> {
  const projects = new Set<string>()
  for await (const { name, size, body } of entriesOf(file)) {
    const [, path] = /^projects\/(.+)$/.exec(name) ?? []
    if (path === undefined) continue
    if (path.split('/').some((step) => step === '' || step === '.' || step === '..' || step.includes('\\')))
      throw damaged(file, `${JSON.stringify(name)} leads out of its folder`)
    const [, project, ref] = taken.exec(path) ?? []
    if (project === undefined && path !== stateFile) continue
    if (project !== undefined) projects.add(project)
    const content = ref === undefined ? body() : await readRef(size, body)
    if (content === undefined) continue
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    await pipeline(content, createWriteStream(target, { mode: 0o600, flags: 'wx' }))
  }
  for (const project of projects) configure(join(folder, project))
}

/** An export that is there already is left as it is. */
export async function restoreExports(file: string, folder: string): Promise<void> {
  for await (const { name, body } of entriesOf(file)) {
    const [, path = ''] = /^retention\/(.+)$/.exec(name) ?? []
    const target = join(folder, path)
    if (!exportName.test(path) || existsSync(target)) continue
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    await pipeline(body(), createWriteStream(`${target}.part`, { mode: 0o600, flush: true }))
    renameSync(`${target}.part`, target)
  }
}

/** The name of a commit; a ref that leads to another one, or to anything else, stays behind. */
async function readRef(size: number, body: TarEntry['body']): Promise<Buffer[] | undefined> {
  if (size > 41) return undefined
  const bytes = await buffer(body())
  return /^[0-9a-f]{40}\n?$/.test(bytes.toString()) ? [bytes] : undefined
}
