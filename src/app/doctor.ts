/** `parley doctor`: looks at everything that an installation depends on, and changes nothing of it. */
import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import sql from 'sql-template-tag'
import { lostRepositories } from '../archive/archive.ts'
import { gitVersion, git as runGit } from '../archive/git.ts'
import { systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import { schemaState } from '../db/migrate.ts'
import { migrations } from '../db/migrations/all.ts'
import { openDb } from '../db/open.ts'
import type { Reader } from '../db/port.ts'
import { risksOf } from '../db/risks.ts'
import { lookInto } from '../db/sqlite/inspect.ts'
import { refuseForeign } from '../db/sqlite/owner.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Finding } from '../doors/cli/operating/doctor.ts'
import type { Config } from '../settings/all.ts'
import { secretFault } from '../settings/kinds.ts'
import { ConfigError, type Settings } from '../settings/read.ts'
import { type ClientRow, listClients } from '../store/client-sessions.ts'
import { archiveFolder } from './archive-place.ts'
import type { ClientHere } from './clients-here.ts'
import { databaseFiles, databaseUrl, databaseWays, storageName } from './database-place.ts'
import { clientFindings } from './doctor-clients.ts'
import { type Check, fault, ok, warning } from './findings.ts'
import { ChangesMissing, lossAt } from './loss.ts'
import { port } from './port-check.ts'

/** Further things to look at. */
interface Also {
  readonly checks?: readonly ((config: Config) => Check)[]
  /** The clients of the user who asks. */
  readonly clients?: () => ReadonlyMap<string, ClientHere>
}

/** Each finding as it is made. Without settings there is nothing to look at but the runtime and git. */
export async function* examine(
  readSettings: () => Settings,
  { checks = [], clients = () => new Map() }: Also = {},
): AsyncGenerator<Finding> {
  yield* runtime()
  yield* git()
  let settings: Settings
  try {
    settings = readSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    yield fault(
      'settings',
      error.message,
      'Put these settings right, in the environment or the file that each names; docs/settings.md has them all.',
    )
    return
  }
  for (const text of settings.warnings) yield warning('settings', text, 'Rename it, or take it out.')
  if (settings.warnings.length === 0) yield ok('settings', 'all of them can be used')
  const { config, sources } = settings
  const storage = storageOf(sources)
  const known: ClientRow[] = []
  const database = (config: Config) => databaseOf(config, known)
  function* client(): Check {
    yield* clientFindings(known, { here: clients(), now: systemClock.now() })
  }
  for (const check of [storage, modes, room, key, database, archive, port, client, ...checks]) {
    try {
      yield* check(config)
    } catch (error) {
      const says = error instanceof Error ? error.message : String(error)
      const advice =
        error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined
      yield fault(check.name, says, advice ?? 'Put this right, then run it again.')
    }
  }
}

function* runtime(): Check {
  const { node } = process.versions
  if (Number.parseInt(node, 10) >= 24) yield ok('runtime', `Node ${node}`)
  else yield fault('runtime', `This is Node ${node}.`, 'Start it as `parley`, which fetches a Node 24, or install one.')
}

async function* git(): Check {
  const version = await gitVersion()
  if (version !== undefined) return yield ok('git', version)
  yield warning(
    'git',
    'There is no git on the PATH.',
    'Install it for the archive that people can read; mail works without.',
  )
}

/** Before the first start there is nothing, which is no fault: a folder that was mistyped looks the same, hence the warning. */
const storageOf = (sources: Settings['sources']) =>
  function* storage({ STORAGE_ROOT }: Config): Check {
    if (!existsSync(STORAGE_ROOT)) {
      if (sources.STORAGE_ROOT === 'default') return yield ok('storage', `${STORAGE_ROOT} is not there yet; ${makes}`)
      const says = `There is no folder ${STORAGE_ROOT} yet (STORAGE_ROOT, ${sources.STORAGE_ROOT}).`
      return yield warning(
        'storage',
        says,
        'Before the first start that is right: `parley serve` makes it. Else correct STORAGE_ROOT.',
      )
    }
    accessSync(STORAGE_ROOT, constants.R_OK | constants.W_OK | constants.X_OK)
    yield ok('storage', STORAGE_ROOT)
  }

const makes = '`parley serve` makes it'

/** Whether nothing of Parley is there: no key, no archive, and no part of a database. */
const isUnborn = (config: Config, files: readonly string[]): boolean =>
  ![join(config.STORAGE_ROOT, 'secret.key'), archiveFolder(config), ...files].some((path) => existsSync(path))

/** Windows has no such modes. */
function* modes(config: Config): Check {
  if (process.platform === 'win32') return
  const place = parseDatabaseUrl(databaseUrl(config))
  const files = place.dialect === 'sqlite' ? databaseFiles(place.file) : []
  const private_ = [config.STORAGE_ROOT, join(config.STORAGE_ROOT, 'secret.key'), ...files].filter((path) =>
    existsSync(path),
  )
  const exposed = private_.filter((path) => (statSync(path).mode & 0o077) !== 0)
  for (const path of exposed) {
    const mode = statSync(path).isDirectory() ? '700' : '600'
    yield warning('modes', `Others on this machine may read ${path}.`, `chmod ${mode} ${path}`)
  }
  if (exposed.length === 0) yield ok('modes', 'only this user can read the files')
}

/** Below the first nothing can be stored; below the second that may come soon. */
const [noBytes, fewBytes] = [limits.requestBytes, 200_000_000]

function* room(config: Config): Check {
  const place = parseDatabaseUrl(databaseUrl(config))
  const folders = new Set([config.STORAGE_ROOT, ...(place.dialect === 'sqlite' ? [dirname(place.file)] : [])])
  for (const folder of [...folders].filter((path) => existsSync(path))) {
    const { bavail, bsize } = statfsSync(folder)
    const [free, advice] = [bavail * bsize, 'Make room on that disk, or set STORAGE_ROOT to a folder on another one.']
    const says = `${Math.floor(free / 1_000_000).toLocaleString('en')} MB are free in ${folder}`
    if (free < noBytes) yield fault('room', `${says}: nothing can be stored.`, advice)
    else if (free < fewBytes) yield warning('room', `Only ${says}.`, advice)
    else yield ok('room', says)
  }
}

function* key({ SECRET_KEY, STORAGE_ROOT }: Config): Check {
  const path = join(STORAGE_ROOT, 'secret.key')
  if (SECRET_KEY !== undefined) return yield ok('key', 'SECRET_KEY is set')
  if (!existsSync(path)) return yield ok('key', 'there is none yet; `parley serve` makes one')
  const wrong = secretFault(readFileSync(path, 'utf8').trim())
  if (wrong === undefined) yield ok('key', path)
  else
    yield fault(
      'key',
      `The key in ${path} is too weak to sign with: it ${wrong}.`,
      'Delete the file: a new one is made.',
    )
}

/** Notes the clients that the store knows. */
async function* databaseOf(config: Config, clients: ClientRow[]): Check {
  const inside = async (reader: Reader): Promise<Finding[]> => {
    const findings = await schema(reader)
    if (!['current', 'ahead'].includes(await schemaState(reader, migrations))) return findings
    clients.push(...(await listClients(reader, systemClock.now())))
    return [...findings, ...(await times(reader))]
  }
  const place = parseDatabaseUrl(databaseUrl(config))
  const name = storageName(config)
  if (place.dialect === 'sqlite') {
    const loss = lossAt(databaseUrl(config))
    if (loss !== undefined) {
      const { message, hint = '' } = new ChangesMissing(loss)
      yield fault('database', `${name}: ${message}`, hint)
      if (loss.state !== 'behind') return
    }
    // A database that somebody names is meant to be there.
    if (config.DATABASE_URL === undefined && isUnborn(config, databaseFiles(place.file)))
      return yield ok('database', `${name} is not there yet; ${makes}`)
    if ((statSync(place.file, { throwIfNoEntry: false })?.size ?? 0) === 0)
      return yield fault(
        'database',
        `There is no database at ${name}.`,
        'Name it with STORAGE_ROOT or DATABASE_URL; `parley serve` makes a new one.',
      )
    refuseForeign(place.file)
    accessSync(place.file, constants.R_OK | constants.W_OK)
    yield* await lookInto(place.file, async (look) => {
      const faults = look.faults()
      const advice = 'Stop Parley and bring back a backup: `parley restore <file> --force`.'
      const sound =
        faults.length === 0
          ? ok('database', `${name} is sound${loss === undefined ? '' : ' but for that'}`)
          : fault('database', `${name} is damaged: ${faults.join('; ')}.`, advice)
      return faults.length === 0 ? [sound, ...(await inside(look))] : [sound]
    })
    return
  }
  const db = await openDb(place.url, databaseWays(config))
  try {
    yield ok('database', `${name} answers`)
    for (const { says, advice } of await risksOf(db, place.url)) yield warning('database', says, advice)
    yield* await db.snapshot(inside)
  } finally {
    await db.close()
  }
}

async function schema(reader: Reader): Promise<Finding[]> {
  switch (await schemaState(reader, migrations)) {
    case 'current':
      return [ok('migrations', 'up to date')]
    case 'ahead':
      return [
        warning(
          'migrations',
          'The database is of a newer Parley, beside which this one can run for a while.',
          'Update this Parley soon: docs/upgrading.md.',
        ),
      ]
    case 'behind':
      return [
        warning(
          'migrations',
          'The database is of an older Parley.',
          '`parley migrate` brings it up to date, as every start does.',
        ),
      ]
    case 'empty':
      return [
        warning('migrations', 'The database has no tables yet.', '`parley serve` or `parley migrate` makes them.'),
      ]
    case 'newer':
      return [
        fault(
          'migrations',
          'The database was made by a newer Parley.',
          'Update this Parley, or name another database.',
        ),
      ]
    case 'foreign':
      return [
        fault('migrations', 'The database holds the tables of another program.', 'Name another with DATABASE_URL.'),
      ]
  }
}

/** A clock that is set back makes leases last longer and new mail look old. */
const aheadMs = 60_000

async function times(reader: Reader): Promise<Finding[]> {
  const [row] = await reader.all<{ at: number | null }>(
    sql`SELECT MAX(at) AS at FROM (SELECT at FROM changes ORDER BY id DESC LIMIT 100) AS newest`,
  )
  const [now, newest] = [systemClock.now(), row?.at ?? 0]
  if (newest <= now + aheadMs) return [ok('clock', new Date(now).toISOString())]
  const says = `This machine's clock says ${new Date(now).toISOString()}, and the database has changes of ${new Date(newest).toISOString()}.`
  return [fault('clock', says, 'Set the clock of this machine, or of the one that was ahead; use NTP on all of them.')]
}

async function* archive(config: Config): Check {
  const folder = archiveFolder(config)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    return yield fault(
      'archive',
      `${folder} is a file.`,
      '`parley archive rebuild` puts it aside and makes the archive.',
    )
  const lost = lostRepositories(folder)
  const again = '`parley archive rebuild` rebuilds it from the database; so does the next `parley serve`.'
  if (lost.length > 0 && !existsSync(folder))
    return yield fault('archive', `The archive in ${folder} is gone, with ${lost.length} projects.`, again)
  const projects = existsSync(folder)
    ? readdirSync(folder).filter((name) => !name.startsWith('.') && existsSync(join(folder, name, '.git')))
    : []
  const broken: string[] = []
  for (const name of projects)
    await runGit(join(folder, name), ['fsck', '--connectivity-only', '--no-dangling']).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') broken.push(name)
      },
    )
  for (const name of broken)
    yield fault(
      'archive',
      `The repository in ${join(folder, name)} is damaged.`,
      '`parley archive rebuild` rebuilds it.',
    )
  for (const path of lost.map((name) => join(folder, name)))
    yield fault('archive', `The repository in ${path} is gone${existsSync(path) ? ': there is no .git' : ''}.`, again)
  if (broken.length === 0 && lost.length === 0)
    yield ok('archive', projects.length === 0 ? 'there is none yet' : `${projects.length} sound in ${folder}`)
}
