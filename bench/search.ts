/** Measures of search: rare and common words among very many messages, and how long it holds up everybody else. */
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, openLog, openOn } from '../src/app/open.ts'
import type { Hub } from '../src/core/hub/hub.ts'
import { fillSearch } from '../src/core/search/projection.ts'
import { type Scope, search } from '../src/core/search/search.ts'
import { loadConfig } from '../src/settings/read.ts'
import { percentile } from './client.ts'
import type { Row } from './rows.ts'
import { seedIndex } from './seed-index.ts'

const topics = 200
const agents = 50
const vocabulary = 30_000

/** Each begins a sixteenth of all words: more than any three letters do in English, but for `the`. */
const beginnings = 'com con dec dis ent exp int mis per pre pro rec sub tra und xyz'.split(' ')

/** The n-th commonest word. As in a language, it occurs about 1/n as often as the first. */
const word = (n: number): string =>
  (beginnings[n % beginnings.length] ?? '') +
  (n * 7919).toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'.charAt(Number(digit)))

/** Two words that occur in some three to eight of a hundred messages each. */
const twoWords = (n: number): string => `${word(50 + ((n * 7) % 100))} ${word(50 + ((n * 11 + 3) % 100))}`

const kinds = [
  { what: 'a rare word', queries: Array.from({ length: 20 }, (_, n) => `rare${n}`), target: 8 },
  { what: 'two words of middling frequency', queries: Array.from({ length: 20 }, (_, n) => twoWords(n)), target: 25 },
  { what: 'the commonest word', queries: [word(1)], target: 15 },
  { what: 'what a sixteenth of all words begin with', queries: ['con*', 'pre*', 'sub*'], target: 50 },
] as const

const fileIn = (storage: string): string => join(storage, 'search.sqlite3')

/** So many of the last messages are filled into the index while that is measured. The others are in it before. */
const filledOf = (messages: number): number => Math.min(150_000, messages / 2)

/** How many seconds an idle process is looked at, before the index is filled and after it. */
const idleSeconds = 5

/** All messages, and the index of most of them. */
export async function makeSearchStore(storage: string, messages: number): Promise<void> {
  const file = fileIn(storage)
  await (await openBenchHub(file)).close()
  const seed = seedMessages(file)
  const indexed = messages - filledOf(messages)
  seed(1, indexed)
  await seedIndex(file)
  seed(indexed + 1, messages)
}

/** `storage` is that of makeSearchStore, with as many messages. */
export async function benchSearch(
  storage: string,
  { messages, samples }: { messages: number; samples: number },
  say: (text: string) => void,
): Promise<Row[]> {
  const file = fileIn(storage)
  const hub = await openBenchHub(file)
  try {
    const idle = await holdUps(() => sleep(idleSeconds * 1000))
    const many = messages.toLocaleString('en')
    const fill = filledOf(messages)
    const filled = `${fill.toLocaleString('en')} of ${many} messages`
    say(`indexing ${filled}`)
    const began = performance.now()
    const indexing = await holdUps(() => fillSearch(hub))
    const rate = Math.round((fill / (performance.now() - began)) * 1000).toLocaleString('en')
    idle.push(...(await holdUps(() => sleep(idleSeconds * 1000))))
    const rows: Row[] = [heldUp(`indexing ${filled} (${rate}/s)`, indexing, idle)]
    say('searches')
    const searching: HoldUp[] = []
    for (const { what, queries, target } of kinds) {
      // Warm, as every server that is measured.
      await time(hub, queries, samples / 2)
      let times: number[] = []
      const held = await holdUps(async () => {
        times = await time(hub, queries, 2 * samples)
      })
      searching.push(...held)
      const [p50, p95] = [percentile(times, 50), percentile(times, 95)]
      rows.push({
        what: `search among ${many}: ${what}`,
        measured: `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`,
        target: `p95 ≤ ${target} ms`,
        reached: p95 <= target,
      })
    }
    rows.push(heldUp('a search', searching, idle))
    return rows
  } finally {
    await hub.close()
  }
}

/**
 * Messages of 20 to 80 words behind Parley's back, from one id to another; one in 100,000 has a certain rare word. Two calls
 * one after the other make what one would.
 */
function seedMessages(file: string): (from: number, to: number) => void {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
  const words = () => Array.from({ length: 20 + random() * 60 }, () => word(Math.floor(vocabulary ** random())))
  const texts = Array.from({ length: 20_000 }, () => words().join(' '))
  return (from, to) => {
    const db = new DatabaseSync(file)
    db.exec(`PRAGMA synchronous = OFF; BEGIN;
      INSERT OR IGNORE INTO projects (id, slug, human_key, created_at) VALUES (1, 'commons', 'commons', 0)`)
    for (let n = 1; n <= agents; n++)
      db.exec(`INSERT OR IGNORE INTO agents (id, project_id, name, name_key, created_at)
        VALUES (${n}, 1, 'agent-${n}', 'agent-${n}', 0)`)
    for (let n = 1; n <= topics; n++)
      db.exec(`INSERT INTO threads (id, uid, project_id, next_seq, created_at, name, name_key)
        VALUES (${n}, 'topic-${n}', 1, ${to}, 0, 'Topic ${word(n)}', 'topic ${word(n)}')
        ON CONFLICT DO UPDATE SET next_seq = ${to}`)
    const insert = db.prepare(
      'INSERT INTO messages (id, uid, thread_id, seq, sender_id, body, created_at) VALUES (?, ?, ?, ?, ?, ?, 0)',
    )
    for (let n = from; n <= to; n++) {
      const body = `${texts[Math.floor(random() * texts.length)]}${n % 5000 === 0 ? ` rare${(n / 5000) % 20}` : ''}`
      insert.run(n, `m-${n}`, 1 + (n % topics), n, 1 + (n % agents), body)
    }
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    // Or the first commit that is measured waits until the disk has all of this.
    const written = openSync(file, 'r+')
    fsyncSync(written)
    closeSync(written)
  }
}

async function openBenchHub(file: string): Promise<Hub> {
  const config = loadConfig({ DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'silent' })
  return openOn(await openDatabase(config), config, openLog(config))
}

/** The longest time between two turns of the event loop within a second. */
interface HoldUp {
  /** By the clock, in milliseconds. */
  readonly clock: number
  /** How long this thread was ready to run meanwhile, and had no processor. */
  readonly queued: number
  /** The most processor time between two turns, whichever they were. */
  readonly cpu: number
}

/**
 * Judged by the clock, which is what others feel: an fsync holds them up too. And by the median of the seconds, since the single
 * longest turn of a run is mostly the machine's: an idle process had one of up to 21 ms. That one is shown, too.
 */
function heldUp(what: string, seconds: readonly HoldUp[], idle: readonly HoldUp[]): Row {
  const median = longest(seconds, 50)
  const worst = seconds.reduce(longer)
  return {
    what: `${what} holds up others`,
    measured:
      `${median.toFixed(1)} ms, the median of the longest in each of ${seconds.length} seconds (an idle process: ${longest(idle, 50).toFixed(1)} ms); ` +
      `at the very worst ${worst.clock.toFixed(1)} ms, of which it waited ${worst.queued.toFixed(1)} ms for a processor (idle: ${longest(idle, 100).toFixed(1)} ms); at most ${worst.cpu.toFixed(1)} ms of CPU`,
    target: '≤ 8 ms',
    reached: median <= 8,
  }
}

const longest = (seconds: readonly HoldUp[], p: number): number =>
  percentile(
    seconds.map(({ clock }) => clock),
    p,
  )

const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** How long this thread has waited for a processor so far, in milliseconds. Linux only. */
const queueTime = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1] ?? 0) / 1e6

/** Runs `work`, and looks at the turns of the event loop meanwhile, second by second; a rest of less than half a second belongs to the last one. */
async function holdUps(work: () => Promise<unknown>): Promise<HoldUp[]> {
  const seconds: HoldUp[] = []
  let second: HoldUp = { clock: 0, queued: 0, cpu: 0 }
  let began = performance.now()
  let [clock, cpu, queue] = [began, cpuTime(), queueTime()]
  const look = () => {
    const [now, used, queued] = [performance.now(), cpuTime(), queueTime()]
    second = longer(second, { clock: now - clock, queued: queued - queue, cpu: used - cpu })
    ;[clock, cpu, queue] = [now, used, queued]
    if (now - began < 1000) return
    seconds.push(second)
    second = { clock: 0, queued: 0, cpu: 0 }
    began = now
  }
  const timer = setInterval(look, 1)
  await work()
  clearInterval(timer)
  look()
  const last = performance.now() - began < 500 ? seconds.pop() : undefined
  return [...seconds, last === undefined ? second : longer(last, second)]
}

const longer = (a: HoldUp, b: HoldUp): HoldUp => ({ ...(b.clock > a.clock ? b : a), cpu: Math.max(a.cpu, b.cpu) })

async function time(hub: Hub, queries: readonly string[], samples: number): Promise<number[]> {
  const scope: Scope = { projectId: 1, topics: true }
  const times: number[] = []
  for (let n = 0; n < samples; n++) {
    const query = queries[n % queries.length] ?? ''
    const began = performance.now()
    const { hits } = await search(hub, scope, { query })
    times.push(performance.now() - began)
    if (hits.length === 0) throw new Error(`nothing was found for ${query}`)
  }
  return times
}
