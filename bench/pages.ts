/** Measures of the pages: their time among many messages, how long they hold up others, and the cost of keeping them open. */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assetNames } from '../src/doors/web/assets.ts'
import { openClient, percentile } from './client.ts'
import { composerRows } from './composer.ts'
import { openedPages, openStream } from './open-pages.ts'
import type { Row } from './rows.ts'
import { seedIndex } from './seed-index.ts'
import { benchProject } from './seed-mail.ts'
import { busyAgent, longThread, projectKey, seedPages, slowThread } from './seed-pages.ts'
import { seenRows, sendTo } from './seen.ts'
import { cpu, memory, type Running, rested, startParley } from './server.ts'

export interface PagesOptions {
  readonly folder: () => string
  readonly messages: number
  readonly samples: number
}

const few = 10_000
const streams = 500

const longThreads = 20

/** The store of many messages, with its search index. */
export async function makePagesStore(storage: string, messages: number): Promise<void> {
  await seedPages(storage, { messages, longThreads })
  await seedIndex(join(storage, 'parley.sqlite3'))
  await (await startWarm(storage)).stop()
}

/** `storage` is that of makePagesStore, with as many messages. */
export async function pagesRows(
  storage: string,
  { folder, messages, samples }: PagesOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const many = messages.toLocaleString('en')
  say(`pages: beside ${few.toLocaleString('en')} messages`)
  const fewStorage = await seedPages(folder(), { messages: few, longThreads: 0 })
  const [far, near] = [await startWarm(storage), await startWarm(fewStorage)]
  try {
    const rows: Row[] = []
    say('pages: warm, one by one')
    rows.push(...(await listRows({ far, near, many, samples })))
    rows.push(...(await deepRows(far, many, samples)))
    rows.push(await changedRow(far, many, Math.ceil(samples / 5)))
    say('pages: what they hold up')
    rows.push(await heldUp(far, 2 * samples))
    say('pages: streams')
    rows.push(await hintRow(near, Math.ceil(samples / 2.5)), ...(await streamRows(near)))
    rows.push(...(await seenRows(near, fewStorage, Math.ceil(samples / 2.5))))
    rows.push(...(await weightRows(far)))
    say('pages: the composer in a browser')
    rows.push(...(await composerRows(far, Math.ceil(samples / 10))))
    say('pages: sends with 50 of them open')
    rows.push(await openedPages(near, { folder, rounds: Math.ceil(samples / 12) }))
    return rows
  } finally {
    await Promise.all([far.stop(), near.stop()])
  }
}

/** Its search index and its sums are filled behind the answers; a page of each waits until they are. */
async function startWarm(storage: string): Promise<Running> {
  const parley = await startParley(storage)
  for (let found = ''; !found.includes('"snippet"'); ) found = (await ask(parley, '/mail/search?q=build', 'json')).text
  for (let counted = ''; !/"count":[1-9]/.test(counted); await sleep(100))
    counted = (await ask(parley, '/mail/bench/activity?window=30d', 'json')).text
  await rested(parley.pid)
  return parley
}

interface Answer {
  readonly ms: number
  /** Of the body, as it came over the wire. */
  readonly bytes: number
  readonly text: string
}

const kept = new Agent({ keepAlive: true, maxSockets: 1 })

/** As a browser asks, compressed; or for JSON, to look into it. */
async function ask({ port }: Pick<Running, 'port'>, path: string, form: 'html' | 'json' | 'plain'): Promise<Answer> {
  const headers = {
    accept: form === 'json' ? 'application/json' : 'text/html',
    cookie: 'parley_visitor=bench',
    ...(form === 'html' && { 'accept-encoding': 'br' }),
  }
  const began = performance.now()
  const [response] = (await once(get({ port, host: '127.0.0.1', path, headers, agent: kept }), 'response')) as [
    IncomingMessage,
  ]
  const parts: Buffer[] = await response.toArray()
  const ms = performance.now() - began
  const body = Buffer.concat(parts)
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}: ${body}`)
  return { ms, bytes: body.length, text: form === 'html' ? '' : body.toString() }
}

const lists = {
  '/mail': () => '/mail',
  'the board of agents': () => '/mail/agents',
  'what needs a person': () => '/mail/attention',
  'all threads': () => '/mail/unified-inbox',
  'a project': () => '/mail/bench',
  'an inbox': () => `/mail/bench/inbox/${busyAgent}`,
  'a message': (n: number) => `/mail/bench/message/${20 * (n % 50) + 1}`,
  threads: () => '/mail/bench/threads',
  leases: () => '/mail/bench/file_reservations',
  'late mail': () => '/mail/attention?view=unread',
  contacts: () => '/mail/bench/contacts',
  'the composer, with 2,000 agents': () => '/mail/overseer/compose',
} as const

async function listRows(stores: { far: Running; near: Running; many: string; samples: number }): Promise<Row[]> {
  const { far, near, many, samples } = stores
  const rows: Row[] = []
  for (let n = 0; n < 30; n++)
    for (const path of Object.values(lists)) for (const store of [far, near]) await ask(store, path(n), 'html')
  for (const [what, path] of Object.entries(lists)) {
    const times = { far: [] as number[], near: [] as number[] }
    const before = cpu(far.pid)
    for (let n = 0; n < samples; n++) {
      times.far.push((await ask(far, path(n), 'html')).ms)
      times.near.push((await ask(near, path(n), 'html')).ms)
    }
    const used = (cpu(far.pid) - before) / samples
    const p95 = percentile(times.far, 95)
    const [mid, beside] = [percentile(times.far, 50), percentile(times.near, 50)]
    rows.push({
      what: `page among ${many}: ${what}`,
      measured: `p50 ${mid.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, ${(mid / beside).toFixed(2)} × of 10,000 (CPU ${used.toFixed(1)} ms)`,
      target: 'p95 ≤ 15 ms, ≤ 1.3 ×',
      reached: p95 <= 15 && mid / beside <= 1.3,
    })
  }
  return rows
}

async function deepRows(far: Running, many: string, samples: number): Promise<Row[]> {
  const threads = Array.from({ length: longThreads }, (_, n) => `/mail/bench/thread/${longThread(n)}`)
  const times = async (paths: readonly string[]): Promise<number[]> => {
    const seen: number[] = []
    for (const path of paths) seen.push((await ask(far, path, 'html')).ms)
    return seen
  }
  const row = (what: string, seen: readonly number[], target: number): Row => ({
    what,
    measured: `p50 ${percentile(seen, 50).toFixed(1)} ms, p95 ${percentile(seen, 95).toFixed(1)} ms`,
    target: `p95 ≤ ${target} ms`,
    reached: percentile(seen, 95) <= target,
  })
  const often = (path: string) => Array.from({ length: samples }, () => path)
  await times(often('/mail/bench/message/1').slice(0, 20))
  const first = await times(threads)
  await times(often('/mail/search?q=build').slice(0, 20))
  return [
    row('page: a thread of 1,000 messages, first time', first, 80),
    row('page: the same again', await times([...threads, ...threads]), 15),
    row(`page: search with facets among ${many}, the commonest word`, await times(often('/mail/search?q=build')), 60),
    row('page: activity of 30 days', await times(often('/mail/bench/activity?window=30d')), 30),
  ]
}

/** Readings that pages share are kept until something changes: here something has. */
async function changedRow(far: Running, many: string, rounds: number): Promise<Row> {
  const client = await openClient(far.port, '', '/mcp')
  const times: { what: string; ms: number }[] = []
  for (let n = 0; n < rounds; n++)
    for (const [what, path] of Object.entries(lists)) {
      await sendTo(client, benchProject, `Change ${n}`)
      times.push({ what, ms: (await ask(far, path(n), 'html')).ms })
    }
  client.close()
  const all = times.map(({ ms }) => ms)
  const slowest = times.toSorted((a, b) => b.ms - a.ms)[0] ?? { what: '', ms: 0 }
  return {
    what: `any of these pages among ${many}, right after a change`,
    measured: `p50 ${percentile(all, 50).toFixed(1)} ms, p95 ${percentile(all, 95).toFixed(1)} ms, at most ${slowest.ms.toFixed(1)} ms (${slowest.what})`,
    target: '≤ 80 ms',
    reached: slowest.ms <= 80,
  }
}

/** Another client asks for almost nothing all the time: the longest that it waits while pages are made, and while none is. */
async function heldUp(parley: Running, samples: number): Promise<Row> {
  const probe = async (work: Promise<unknown>): Promise<number[]> => {
    const waits: number[] = []
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    let going = true
    const done = work.finally(() => {
      going = false
    })
    while (going) {
      const began = performance.now()
      const request = get({ port: parley.port, host: '127.0.0.1', path: '/health/liveness', agent })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      await response.toArray()
      waits.push(performance.now() - began)
      await sleep(1)
    }
    agent.destroy()
    await done
    return waits
  }
  const paths = Object.values(lists)
  const everything = async () => {
    // Slow bodies are shown as text from the second look on: this is the first.
    await ask(parley, `/mail/bench/thread/${slowThread}`, 'html')
    for (let n = 0; n < samples; n++) {
      const path = paths[n % paths.length]?.(n) ?? '/mail'
      await ask(parley, n % 7 === 6 ? '/mail/search?q=build' : path, 'html')
    }
  }
  await probe(sleep(1000))
  const rest = await probe(sleep(2000))
  const waits = await probe(everything())
  const worst = Math.max(...waits)
  return {
    what: 'any page, the slowest bodies too, holds up others',
    measured: `${worst.toFixed(1)} ms at most, p99 ${percentile(waits, 99).toFixed(1)} ms (at rest ${Math.max(...rest).toFixed(1)} ms)`,
    target: '≤ 25 ms',
    reached: worst <= 25,
  }
}

const watchers = 4

/** A few streams, each of a project of its own: a page is told of changes no more than five times a second, and all together ten times. */
async function hintRow(parley: Running, samples: number): Promise<Row> {
  const client = await openClient(parley.port, '', '/mcp')
  const watched = await Promise.all(
    Array.from({ length: watchers }, (_, n) => openStream(parley.port, n === 0 ? 'bench' : `bench-${n}`)),
  )
  const times: number[] = []
  for (let n = -watchers; n < samples; n++) {
    const stream = watched[(n + watchers) % watchers]
    const told = stream?.next().then(() => performance.now())
    await sendTo(client, projectKey((n + watchers) % watchers), 'The build is green again')
    // An event that came before the answer took no time.
    const answeredAt = performance.now()
    if (n >= 0) times.push(Math.max(0, ((await told) ?? 0) - answeredAt))
    else await told
    await sleep(125)
  }
  for (const stream of watched) stream.close()
  client.close()
  const [p50, p99] = [percentile(times, 50), percentile(times, 99)]
  return {
    what: 'answer to `send_message` → `change` at a stream of the pages',
    measured: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
    target: 'p50 ≤ 5 ms, p99 ≤ 25 ms',
    reached: p50 <= 5 && p99 <= 25,
  }
}

async function streamRows(parley: Running): Promise<Row[]> {
  const used = async () => {
    const before = cpu(parley.pid)
    await sleep(2000)
    return (cpu(parley.pid) - before) / 20
  }
  await rested(parley.pid)
  const [idle, alone] = [memory(parley.pid), await used()]
  const open = await Promise.all(Array.from({ length: streams }, () => openStream(parley.port, 'bench')))
  await rested(parley.pid)
  const [more, together] = [memory(parley.pid) - idle, await used()]
  for (const stream of open) stream.close()
  return [
    {
      what: `${streams} open streams of the pages`,
      measured: `${more.toFixed(0)} MB more, CPU ${together.toFixed(2)} % of a core (without ${alone.toFixed(2)} %)`,
      target: '≤ 30 MB, CPU not measurable',
      reached: more <= 30 && together - alone <= 0.3,
    },
  ]
}

async function weightRows(parley: Running): Promise<Row[]> {
  const pages = [...Object.values(lists).map((path) => path(0)), '/mail/search?q=build', '/mail/projects']
  pages.push(`/mail/bench/thread/${longThread(0)}`, '/mail/bench', '/mail/bench/activity?window=30d')
  const weights = []
  for (const path of pages) {
    const [small, plain] = [await ask(parley, path, 'html'), await ask(parley, path, 'plain')]
    weights.push({ path, kb: small.bytes / 1024, plainKb: plain.bytes / 1024 })
  }
  const heaviest = weights.toSorted((a, b) => b.kb - a.kb)[0] ?? { path: '', kb: 0, plainKb: 0 }
  const [list] = weights
  const plain = Math.max(...weights.map(({ plainKb }) => plainKb))
  const { text: home } = await ask(parley, '/mail', 'plain')
  const folder = /\/mail\/assets\/[0-9a-f]+\//.exec(home)?.[0] ?? ''
  let assets = 0
  for (const name of assetNames) assets += (await ask(parley, folder + name, 'html')).bytes / 1024
  return [
    {
      what: 'pages: a list of 50 / the heaviest / all assets, compressed',
      measured: `${(list?.kb ?? 0).toFixed(1)} / ${heaviest.kb.toFixed(1)} (${heaviest.path}; plain at most ${plain.toFixed(0)}) / ${assets.toFixed(1)} KB`,
      target: '≤ 20 / 40 (200 plain) / 60 KB',
      reached: (list?.kb ?? 99) <= 20 && heaviest.kb <= 40 && plain <= 200 && assets <= 60,
    },
  ]
}
