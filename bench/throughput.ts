/** Calls a second of each door: Parley, Parley again, perhaps an older tree, and their floors take turns. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../test/support/postgres.ts'
import { openClient } from './client.ts'
import type { Load } from './drive.ts'
import type { FloorOrder } from './floor-sqlite.ts'
import type { Order } from './load.ts'
import type { Era } from './phrase.ts'
import { openPosting, type Posting, quiet } from './post.ts'
import { beside, type Row, share } from './rows.ts'
import { seedIndex } from './seed-index.ts'
import { benchProject, type seedMail } from './seed-mail.ts'
import { fillMailboxes, makeAgents, makeDatabase } from './seed-postgres.ts'
import { type Running, startFloor, startInboxFloor, startParley, startWorker, type Worker } from './server.ts'
import { type Contender, coldCalls, served, sharedCalls, sliceSeconds, takeTurns, warmUp } from './turns.ts'

const connections = 64
const posted = '`POST /messages/send`'

interface Line {
  readonly what: string
  readonly call: Order['call'] | 'post'
  readonly era?: Era
  /** Calls that a server answers before it is measured. */
  readonly warm: number
  /** Which rows the floor writes; `inbox` has a floor of its own. */
  readonly floor?: FloorOrder['unit'] | 'inbox'
  /** Another call that stands in for the floor: how much of its speed this one reaches. */
  readonly beside?: Order['call']
  /** Per cent of the floor. */
  readonly target?: number
}

/** Of servers that have run against each other before: a plain send is warm by then. */
const sqliteLines: readonly Line[] = [
  { what: '`send_to_agent`, plain JSON-RPC', call: 'send', warm: 0, floor: 'send', target: 50 },
  { what: '`send_to_agent` on a session', call: 'send', era: 'session', warm: sharedCalls, floor: 'send', target: 50 },
  { what: '`send_to_agent`, 2026-07-28', call: 'send', era: 'modern', warm: sharedCalls, floor: 'send', target: 50 },
  { what: '`send_message` to one', call: 'mail', warm: sharedCalls, floor: 'send', target: 50 },
  { what: '`send_message` to ten', call: 'mailTen', warm: sharedCalls / 2, floor: 'sendTen', target: 50 },
  { what: posted, call: 'post', warm: sharedCalls, floor: 'send', target: 50 },
  { what: '`check_mail`, full mailbox', call: 'check', warm: sharedCalls, floor: 'check', target: 65 },
]

/** Each by itself in a server that has written nothing: what a hundred thousand sends leave to be done would run beside it. */
const readingLines: readonly Line[] = [
  { what: '`fetch_inbox`, 20 with bodies', call: 'inbox', warm: sharedCalls, floor: 'inbox', target: 60 },
  { what: '`search_messages` among 100,000', call: 'search', warm: 300 },
]

const postgresLines: readonly Line[] = [
  { what: '`send_to_agent` on PostgreSQL', call: 'send', warm: coldCalls, floor: 'send', target: 50 },
  {
    what: '64 senders to one mailbox on PostgreSQL, beside 64 mailboxes',
    call: 'sendToOne',
    warm: sharedCalls / 4,
    beside: 'send',
    target: 50,
  },
  { what: '`send_message` to one on PostgreSQL', call: 'mail', warm: sharedCalls, floor: 'send', target: 50 },
  { what: '`send_message` to ten on PostgreSQL', call: 'mailTen', warm: sharedCalls / 2, floor: 'sendTen', target: 50 },
  { what: `${posted} on PostgreSQL`, call: 'post', warm: sharedCalls, floor: 'send', target: 50 },
  { what: '`check_mail` on PostgreSQL', call: 'check', warm: sharedCalls, floor: 'check', target: 75 },
]

/** In each mailbox on PostgreSQL before they are emptied: more than warming up and the rounds of a whole run take. */
const filled = 800

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
    for (const database of served) await makeAgents(database)
    // Sends make the readers.
    for (const { port } of [field.parley, field.again, ...(field.older ? [field.older] : [])])
      await field.load.ask({ port, call: 'send', era: 'plain', connections, seconds: 1 })
    await Promise.all(served.map((database) => fillMailboxes(database, filled)))
    const rows = await measure(postgresLines, field, options, say)
    await field.close()
    return rows
  } finally {
    await server.stop()
  }
}

/** On SQLite, among 100,000 messages. */
export async function throughputRows(
  folder: () => string,
  options: ThroughputOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const place = { prepare: mailIn(options.mailed ?? '') }
  const writing = await openField(folder, options, place)
  const noise = await twins(writing, options, say)
  const rows = withNoise(await measure(sqliteLines, writing, options, say), noise)
  await writing.close()
  const reading = await openField(folder, options, place)
  for (const line of readingLines) rows.push(...(await measure([line], reading, options, say)))
  await reading.close()
  return rows
}

interface Field {
  readonly load: Worker<Order, Load>
  readonly rows: Worker<FloorOrder, { calls: number; microseconds: number }>
  readonly http: Running
  /** Of a store on SQLite. */
  readonly inbox: Running | undefined
  readonly parley: Running
  readonly again: Running
  readonly older: Running | undefined
  /** The senders of a server, who stay connected. */
  posting(server: Running): Promise<Posting>
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
    return startParley(storage, database === undefined ? quiet : { ...quiet, DATABASE_URL: database }, checkout)
  }
  const storage = folder()
  const [parley, again, http] = await Promise.all([
    serve(storage, databases?.[1]),
    serve(folder(), databases?.[2]),
    startFloor(),
  ])
  const older = against === undefined ? undefined : await serve(folder(), databases?.[3], against)
  const inbox = databases === undefined ? await startInboxFloor(storage) : undefined
  const load: Field['load'] = startWorker('load.ts')
  const rows: Field['rows'] = databases
    ? startWorker('floor-postgres.ts', databases[0] ?? '')
    : startWorker('floor-sqlite.ts', folder())
  const servers = [parley, again, older, http, inbox].filter((server) => server !== undefined)
  const postings = new Map<Running, Promise<Posting>>()
  return {
    load,
    rows,
    http,
    inbox,
    parley,
    again,
    older,
    posting(server) {
      const open = postings.get(server) ?? openPosting(server)
      postings.set(server, open)
      return open
    },
    close: async () => {
      for (const posting of postings.values()) (await posting).close()
      await Promise.all([load.stop(), rows.stop()])
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

/** Parley against itself, before either server has answered anything else: that is the noise. */
async function twins(field: Field, { rounds }: ThroughputOptions, say: (text: string) => void): Promise<string> {
  say('Parley against itself')
  const line: Line = { what: 'send_to_agent', call: 'send', warm: coldCalls }
  const contenders: Record<string, Contender> = {
    parley: server(field, field.parley, line),
    again: server(field, field.again, line),
    ...(field.older && { older: server(field, field.older, line) }),
  }
  await warmUp(contenders)
  const { parley = [], again = [] } = await takeTurns(contenders, rounds)
  return beside(again, parley)
}

/** In the first line, unless each has its own. */
const withNoise = ([first, ...others]: Row[], noise: string): Row[] =>
  first === undefined ? [] : [{ noise, ...first }, ...others]

/** All of these lines in one series of rounds. Those that have the same floor share its slices. */
async function measure(
  lines: readonly Line[],
  field: Field,
  { rounds, against }: ThroughputOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const contenders: Record<string, Contender> = {}
  const add = (name: string, contender: Contender): string => {
    contenders[name] ??= contender
    return name
  }
  const floorsOf = ({ floor, beside }: Line): string[] => {
    if (beside !== undefined) return [`parley ${beside}`]
    if (floor === undefined) return []
    if (floor === 'inbox') return [add('inbox', bareServer(field, field.inbox, 'inbox'))]
    // As much as a send asks for; a check asks for less, and takes 0.9 of the time.
    const asked = floor === 'check' ? 'check' : 'send'
    return [add(`http ${asked}`, bareServer(field, field.http, asked)), add(`rows ${floor}`, bareRows(field, floor))]
  }
  const plans = lines.map((line) => {
    const name = line.era === undefined ? line.call : line.what
    // Where another tree is to be judged, each server answers the same.
    const judged = against !== undefined
    return {
      line,
      floors: floorsOf(line),
      parley: add(`parley ${name}`, server(field, field.parley, line)),
      again: judged && add(`again ${name}`, server(field, field.again, line)),
      older: judged && field.older && add(`older ${name}`, server(field, field.older, line)),
    }
  })
  for (const { what } of lines) say(what)
  await warmUp(contenders)
  // Without a floor nobody takes turns.
  const seen = await takeTurns(contenders, Object.keys(contenders).length > 1 ? rounds : Math.ceil(rounds / 2))
  const of = (name: string | false | undefined) => (name ? seen[name] : undefined)
  return plans.map(({ line: { what, target }, floors, parley, again, older }) => {
    const [twin, other] = [of(again), of(older)]
    const slices = {
      floor: floors.map((name) => of(name) ?? []),
      parley: of(parley) ?? [],
      ...(twin && { again: twin }),
      ...(other && { older: other }),
    }
    return share(what, slices, target)
  })
}

const server = (field: Field, running: Running, line: Line): Contender =>
  served(running, (seconds) => ask(field, running, line, seconds), line)

async function ask(field: Field, server: Running, { call, era = 'plain' }: Line, seconds: number): Promise<Load> {
  if (call === 'post') return (await field.posting(server)).send(seconds)
  return field.load.ask({ port: server.port, call, era, connections, seconds })
}

/** It does nothing behind its answers. */
const bareServer = ({ load }: Field, server: Running | undefined, call: Order['call']): Contender => ({
  slice: async () => {
    const order: Order = { port: server?.port ?? 0, call, era: 'plain', connections, seconds: sliceSeconds }
    const { calls, errors, microseconds } = await load.ask(order)
    if (errors > 0) throw new Error(`the floor of ${call}: ${errors} of ${calls} calls failed`)
    return { wall: microseconds }
  },
})

const bareRows = ({ rows }: Field, unit: FloorOrder['unit']): Contender => ({
  slice: async () => {
    const { calls, microseconds } = await rows.ask({ unit, seconds: sliceSeconds })
    if (calls === 0) throw new Error(`the floor of ${unit}: there was nothing left to take`)
    return { wall: microseconds }
  },
})

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
