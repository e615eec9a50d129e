/** A server on each store, of few and of many messages or agents; the same calls go to all of them in turn. */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchClient, openClient } from '../client.ts'
import { benchProject } from '../seed-mail.ts'
import { cpu, memory, type Running, rested, startParley } from '../server.ts'
import { text } from '../text.ts'
import { type Crowd, commonWord, measured, rareWord, seedCrowd } from './seed.ts'
import { type GrowthLine, judge } from './table.ts'

interface Store extends Crowd {
  readonly storage: string
}

interface Call {
  readonly what: string
  readonly why?: string
  /** The path of the n-th sample, what is called there, and what its answer must hold. */
  readonly path: (n: number) => string
  readonly tool: string
  readonly args: (n: number) => Record<string, unknown>
  readonly expected: string
}

const agent = (n: number) => `Agent${n % measured}`
const mailbox = (n: number) => `/agents/${agent(n)}/mcp`
const project = () => '/mcp'

const calls: readonly Call[] = [
  {
    what: '`send_to_agent`',
    path: mailbox,
    tool: 'send_to_agent',
    args: (n) => ({ name: agent(n + 1), msg: text }),
    expected: '"result"',
  },
  { what: '`check_mail`', path: mailbox, tool: 'check_mail', args: () => ({}), expected: '"content"' },
  {
    what: '`send_message` to one',
    path: project,
    tool: 'send_message',
    args: (n) => ({
      project_key: benchProject,
      sender_name: agent(n),
      to: [agent(n + 1)],
      subject: 'The build is green again',
      body_md: text,
    }),
    expected: '"deliveries"',
  },
  {
    what: '`fetch_inbox`, 10 with bodies',
    path: project,
    tool: 'fetch_inbox',
    args: (n) => ({ project_key: benchProject, agent_name: agent(n), limit: 10, include_bodies: true }),
    expected: '"body_md"',
  },
  {
    what: '`search_messages`, a word of 25 messages',
    path: project,
    tool: 'search_messages',
    args: () => ({ project_key: benchProject, query: rareWord }),
    expected: '"snippet"',
    why: 'The index is a row of parts of bounded size, lest a merge hold up others, and each part is asked.',
  },
  {
    what: '`search_messages`, a word of every message',
    path: project,
    tool: 'search_messages',
    args: () => ({ project_key: benchProject, query: commonWord }),
    expected: '"snippet"',
    why: 'More messages match, and more are compared to find the best, up to a bound.',
  },
]

/** A store that Parley has made, filled, and indexed until nothing is left to do. */
export async function prepare(storage: string, crowd: Crowd): Promise<Store> {
  await (await startParley(storage)).stop()
  seedCrowd(storage, crowd)
  const parley = await startParley(storage)
  const client = await openClient(parley.port, '', '/mcp')
  const answer = await client.call('search_messages', { project_key: benchProject, query: rareWord, limit: 1 })
  if (!answer.includes('"snippet"')) throw new Error(`a search brought ${answer.slice(0, 300)}`)
  client.close()
  await quiet(parley.pid)
  await parley.stop()
  return { storage, ...crowd }
}

/** Until a process has used next to nothing for a second: the parts of the index are merged in small steps. */
async function quiet(pid: number): Promise<void> {
  for (let before = -1000, now = cpu(pid); now - before > 20; now = cpu(pid)) {
    before = now
    await sleep(1000)
  }
}

export interface Effort {
  readonly starts: number
  readonly rounds: number
}

export async function serverLines(stores: readonly Store[], { starts, rounds }: Effort): Promise<GrowthLine[]> {
  const bytes = stores.map(({ storage, messages }) => [sizeOf(storage) / messages])
  const started: number[][] = stores.map(() => [])
  for (let n = 0; n < starts; n++)
    for (const [which, { storage }] of stores.entries()) {
      const parley = await startParley(storage)
      started[which]?.push(parley.startedIn)
      await parley.stop()
    }
  const servers = await Promise.all(stores.map(({ storage }) => startParley(storage)))
  const ready = servers.map(({ pid }) => [memory(pid)])
  const { times, worked } = await timeCalls(servers, rounds)
    .then((times) => ({ times, worked: servers.map(({ pid }) => [memory(pid)]) }))
    .finally(() => Promise.all(servers.map((server) => server.stop())))
  return [
    ...calls.map(({ what, why }, n) =>
      judge({ what, unit: 'ms', seen: times.map((of) => of[n] ?? []), ...(why !== undefined && { why }) }),
    ),
    judge({ what: 'start to ready', unit: 'ms', seen: started }),
    judge({ what: 'memory when ready', unit: 'MB', seen: ready }),
    judge({ what: 'memory after these calls', unit: 'MB', seen: worked }),
    judge({ what: 'file with its indexes, a message', unit: 'bytes', seen: bytes }),
  ]
}

/** For each server and each call, its times in milliseconds. A third of the rounds go before: a server runs for days. */
async function timeCalls(servers: readonly Running[], rounds: number): Promise<number[][][]> {
  const clients = servers.map(() => new Map<string, BenchClient>())
  const times = servers.map(() => calls.map((): number[] => []))
  const warm = Math.ceil(rounds / 3)
  // One kind of call after the other: a search right after a send would also index what was sent.
  for (const [which, call] of calls.entries())
    for (let n = 0; n < warm + rounds; n++)
      for (let turn = 0; turn < servers.length; turn++) {
        const at = (n + turn) % servers.length
        const [server, known] = [servers[at], clients[at]]
        if (server === undefined || known === undefined) continue
        const path = call.path(n)
        const client = known.get(path) ?? (await openClient(server.port, '', path))
        known.set(path, client)
        const began = performance.now()
        const answer = await client.call(call.tool, call.args(n))
        if (n >= warm) times[at]?.[which]?.push(performance.now() - began)
        if (!answer.includes(call.expected) || answer.includes('"isError":true'))
          throw new Error(`${call.tool} brought ${answer.slice(0, 300)}`)
      }
  for (const known of clients) for (const client of known.values()) client.close()
  await Promise.all(servers.map(({ pid }) => rested(pid)))
  return times
}

/** Without the write-ahead log, which is as large as the last burst was. */
function sizeOf(storage: string): number {
  const file = join(storage, 'parley.sqlite3')
  const db = new DatabaseSync(file)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return statSync(file).size
}

export const remove = (stores: readonly Store[]): void => {
  for (const { storage } of stores) rmSync(storage, { recursive: true, force: true })
}
