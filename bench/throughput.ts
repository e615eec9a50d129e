/** Calls a second of each door: Parley, Parley again, perhaps an older tree, and their floors take turns. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../test/support/postgres.ts'
import { openClient } from './client.ts'
import type { Load } from './drive.ts'
import type { FloorOrder } from './floor-sqlite.ts'
import type { Order } from './load.ts'
import type { Era } from './phrase.ts'
import { posted, postSends } from './post.ts'
import { type Row, share } from './rows.ts'
import { seedIndex } from './seed-index.ts'
import { benchProject, type seedMail } from './seed-mail.ts'
import { fillMailboxes, makeAgents, makeDatabase } from './seed-postgres.ts'
import {
  cpu,
  type Running,
  rested,
  startFloor,
  startInboxFloor,
  startParley,
  startWorker,
  type Worker,
} from './server.ts'
import { type Contender, coldSeconds, takeTurns, warmUp } from './turns.ts'

const connections = 64
const seconds = 0.15

interface Line {
  readonly what: string
  readonly call: Order['call']
  readonly era?: Era
  /** Seconds until its code is compiled, where another line has run most of it. */
  readonly warm?: number
  /** Which rows the floor writes; `inbox` has a floor of its own. */
  readonly floor?: FloorOrder['unit'] | 'inbox'
  /** Another call that stands in for the floor: how much of its speed this one reaches. */
  readonly beside?: Order['call']
  /** Per cent of the floor. */
  readonly target?: number
}

const mailboxLines: readonly Line[] = [
  { what: '`send_to_agent`, plain JSON-RPC', call: 'send', floor: 'send', target: 80 },
  { what: '`send_to_agent` on a session', call: 'send', era: 'session', warm: 2, floor: 'send', target: 75 },
  { what: '`send_to_agent`, 2026-07-28', call: 'send', era: 'modern', warm: 2, floor: 'send', target: 75 },
  { what: '`check_mail`, full mailbox', call: 'check', floor: 'check', target: 65 },
]

const mailLines: readonly Line[] = [
  { what: '`send_message` to one', call: 'mail', floor: 'send', target: 65 },
  { what: '`send_message` to ten', call: 'mailTen', floor: 'sendTen', target: 65 },
  { what: '`fetch_inbox`, 20 with bodies', call: 'inbox', floor: 'inbox', target: 60 },
  { what: '`search_messages` among 100,000', call: 'search' },
]

const postgresLines: readonly Line[] = [
  { what: '`send_to_agent` on PostgreSQL', call: 'send', floor: 'send', target: 75 },
  {
    what: '64 senders to one mailbox on PostgreSQL, beside 64 mailboxes',
    call: 'sendToOne',
    warm: 2,
    beside: 'send',
    target: 50,
  },
  { what: '`check_mail` on PostgreSQL', call: 'check', floor: 'check', target: 75 },
  { what: '`send_message` to one on PostgreSQL', call: 'mail', floor: 'send', target: 75 },
  { what: '`send_message` to ten on PostgreSQL', call: 'mailTen', floor: 'sendTen', target: 75 },
]

/** In each mailbox before they are emptied, and how long the floor fills its own: more than warming up and the rounds of a whole run take. */
const filled = 800
const floorFills = 4

export interface ThroughputOptions {
  readonly rounds: number
  /** That of makeMailedStore. */
  readonly mailed?: string
  /** Another checkout of Parley, which runs beside this one. */
  readonly against?: string | undefined
}

/** The same on PostgreSQL, against bare `pg` with the same statements, in an empty store. */
export async function postgresRows(
  folder: () => string,
  options: ThroughputOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const server = await startPostgres({ durable: true })
  try {
    const databases = await Promise.all(
      ['floor', 'parley', 'again', 'older'].map((name) => makeDatabase(server.url, name)),
    )
    const field = await openField(folder, options, { databases })
    const served = databases.slice(1, options.against === undefined ? 3 : 4)
    const rows: Row[] = []
    for (const database of served) await makeAgents(database)
    for (const [at, line] of postgresLines.entries()) {
      say(line.what)
      // The readers are there by now: sends have made them.
      if (line.call === 'check') await Promise.all(served.map((database) => fillMailboxes(database, filled)))
      rows.push(await measure(line, field, turnsOf(options, at)))
    }
    await field.close()
    say(`${posted} on PostgreSQL`)
    const places = await Promise.all(
      ['posts', 'posts_again', 'posts_floor', 'posts_older'].map((name) => makeDatabase(server.url, name)),
    )
    rows.push(await postSends(folder, { ...options, databases: places, target: 70 }))
    return rows
  } finally {
    await server.stop()
  }
}

/** On SQLite: the mailbox in an empty store, mail among 100,000 messages. */
export async function throughputRows(
  folder: () => string,
  options: ThroughputOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const [lines, place] of [
    [mailboxLines, {}],
    [mailLines, { prepare: mailIn(options.mailed ?? '') }],
  ] as const) {
    const field = await openField(folder, options, place)
    for (const [at, line] of lines.entries()) {
      say(line.what)
      rows.push(await measure(line, field, turnsOf(options, at)))
    }
    await field.close()
  }
  return rows
}

/** Once a store, or where another tree is to be judged, Parley runs against itself: that is the noise. */
const turnsOf = ({ rounds, against }: ThroughputOptions, line: number) => ({
  rounds,
  again: line === 0 || against !== undefined,
})

interface Field {
  readonly load: Worker<Order, Load>
  readonly rows: Worker<FloorOrder, { calls: number; microseconds: number }>
  readonly http: Running
  /** Of a store on SQLite. */
  readonly inbox: Running | undefined
  readonly parley: Running
  readonly again: Running
  readonly older: Running | undefined
  close(): Promise<void>
}

interface Place {
  /** Fills a store before its server starts. */
  readonly prepare?: (storage: string, checkout: string | undefined) => Promise<void>
  /** Of the floor, of Parley, of Parley again, of the older tree: on PostgreSQL each has its own. */
  readonly databases?: readonly string[]
}

async function openField(
  folder: () => string,
  { against }: ThroughputOptions,
  { prepare = async () => {}, databases }: Place,
): Promise<Field> {
  const serve = async (storage: string, database: string | undefined, checkout?: string): Promise<Running> => {
    await prepare(storage, checkout)
    return startParley(storage, database === undefined ? {} : { DATABASE_URL: database }, checkout)
  }
  const storage = folder()
  const parley = await serve(storage, databases?.[1])
  const again = await serve(folder(), databases?.[2])
  const older = against === undefined ? undefined : await serve(folder(), databases?.[3], against)
  const http = await startFloor()
  const inbox = databases === undefined ? await startInboxFloor(storage) : undefined
  const load: Field['load'] = startWorker('load.ts')
  const rows: Field['rows'] = databases
    ? startWorker('floor-postgres.ts', databases[0] ?? '')
    : startWorker('floor-sqlite.ts', folder())
  const servers = [parley, again, older, http, inbox].filter((server) => server !== undefined)
  return {
    load,
    rows,
    http,
    inbox,
    parley,
    again,
    older,
    close: async () => {
      await Promise.all([load.stop(), rows.stop()])
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

async function measure(
  { what, call, era = 'plain', warm = coldSeconds, floor, beside, target }: Line,
  field: Field,
  { rounds, again }: { rounds: number; again: boolean },
): Promise<Row> {
  const server = ({ port, pid }: Running, as: Era = era, asked = call): Contender => ({
    slice: async () => {
      const before = cpu(pid)
      const { calls, errors, microseconds } = await field.load.ask({ port, call: asked, era: as, connections, seconds })
      if (errors > 0) throw new Error(`${what}: ${errors} of ${calls} calls failed`)
      if (calls === 0) throw new Error(`${what}: there was nothing left to take`)
      await rested(pid)
      return { wall: microseconds, cpu: ((cpu(pid) - before) * 1000) / calls }
    },
  })
  const written = (unit: FloorOrder['unit']): Contender => ({
    slice: async () => {
      const { calls, microseconds } = await field.rows.ask({ unit, seconds })
      if (calls === 0) throw new Error(`the floor of ${unit}: there was nothing left to take`)
      return { wall: microseconds }
    },
  })
  const floors: Readonly<Record<string, Contender>> | undefined =
    floor === undefined
      ? beside && { beside: server(field.parley, era, beside) }
      : floor === 'inbox'
        ? field.inbox && { inbox: server(field.inbox, 'plain') }
        : { http: server(field.http, 'plain'), rows: written(floor) }
  const contenders: Record<string, Contender> = {
    ...floors,
    parley: { ...server(field.parley), warmSeconds: warm },
    ...(again && { again: { ...server(field.again), warmSeconds: warm } }),
    ...(field.older && { older: { ...server(field.older), warmSeconds: warm } }),
  }
  if (floor === 'check') await field.rows.ask({ unit: 'send', seconds: floorFills })
  await warmUp(contenders)
  const seen = await takeTurns(contenders, rounds)
  return share(
    what,
    {
      floor: Object.keys(floors ?? {}).map((name) => seen[name] ?? []),
      parley: seen.parley ?? [],
      ...(seen.again && { again: seen.again }),
      ...(seen.older && { older: seen.older }),
    },
    target,
  )
}

/** A copy; another tree fills a store of its own. */
const mailIn = (mailed: string) => async (storage: string, checkout: string | undefined) =>
  checkout === undefined ? cpSync(mailed, storage, { recursive: true }) : makeMailedStore(storage, checkout)

/** A store of that tree, filled behind its back, and searched once: then nothing is left to index beside the load. */
export async function makeMailedStore(storage: string, checkout?: string): Promise<void> {
  await (await startParley(storage, {}, checkout)).stop()
  const seeds = (await import(checkout === undefined ? './seed-mail.ts' : join(checkout, 'bench/seed-mail.ts'))) as {
    seedMail: typeof seedMail
  }
  seeds.seedMail(storage, Array(64).fill(1563))
  if (checkout === undefined) await seedIndex(join(storage, 'parley.sqlite3'))
  const parley = await startParley(storage, {}, checkout)
  const client = await openClient(parley.port, '', '/mcp')
  const answer = await client.call('search_messages', { project_key: benchProject, query: 'green', limit: 1 })
  client.close()
  await parley.stop()
  if (!answer.includes('"snippet"')) throw new Error(`a search brought ${answer.slice(0, 300)}`)
}
