/** What search is measured by: rare and common words among very many messages, and how long it holds up everybody else. */
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, openLog, openOn } from '../src/app/open.ts'
import type { Hub } from '../src/core/hub/hub.ts'
import { rebuildSearch } from '../src/core/search/projection.ts'
import { type Scope, search } from '../src/core/search/search.ts'
import { loadConfig } from '../src/settings/read.ts'
import { percentile } from './client.ts'
import type { Row } from './rows.ts'

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

export async function makeSearchStore(storage: string, messages: number): Promise<void> {
  await (await openBenchHub(fileIn(storage))).close()
  seedMessages(fileIn(storage), messages)
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
    const idle = await holdUp(() => sleep(3000))
    const many = messages.toLocaleString('en')
    say(`indexing ${many} messages`)
    const began = performance.now()
    const indexing = await holdUp(() => rebuildSearch(hub))
    const rate = Math.round((messages / (performance.now() - began)) * 1000).toLocaleString('en')
    const rows: Row[] = [heldUp(`indexing ${many} messages (${rate}/s)`, indexing, idle)]
    say('searches')
    const searching: HoldUp = { cpu: 0, clock: 0, queued: 0 }
    for (const { what, queries, target } of kinds) {
      await time(hub, queries, samples / 10)
      let times: number[] = []
      const held = await holdUp(async () => {
        times = await time(hub, queries, samples)
      })
      searching.cpu = Math.max(searching.cpu, held.cpu)
      if (held.clock > searching.clock) [searching.clock, searching.queued] = [held.clock, held.queued]
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

/** Messages of 20 to 80 words behind Parley's back; one in 100,000 has a certain rare word. */
function seedMessages(file: string, count: number): void {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x80000000
  }
  const words = () => Array.from({ length: 20 + random() * 60 }, () => word(Math.floor(vocabulary ** random())))
  const texts = Array.from({ length: 20_000 }, () => words().join(' '))
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA synchronous = OFF; BEGIN;
    INSERT OR IGNORE INTO projects (id, slug, human_key, created_at) VALUES (1, 'commons', 'commons', 0)`)
  for (let n = 1; n <= agents; n++)
    db.exec(`INSERT INTO agents (id, project_id, name, name_key, created_at)
      VALUES (${n}, 1, 'agent-${n}', 'agent-${n}', 0)`)
  for (let n = 1; n <= topics; n++)
    db.exec(`INSERT INTO threads (id, uid, project_id, next_seq, created_at, name, name_key)
      VALUES (${n}, 'topic-${n}', 1, ${count}, 0, 'Topic ${word(n)}', 'topic ${word(n)}')`)
  const insert = db.prepare(
    'INSERT INTO messages (id, uid, thread_id, seq, sender_id, body, created_at) VALUES (?, ?, ?, ?, ?, ?, 0)',
  )
  for (let n = 1; n <= count; n++) {
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

async function openBenchHub(file: string): Promise<Hub> {
  const config = loadConfig({ DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'silent' })
  return openOn(await openDatabase(config), config, openLog(config))
}

interface HoldUp {
  cpu: number
  clock: number
  /** How much of the longest one this thread was ready to run, and had no processor. */
  queued: number
}

/** Judged by the clock, which is what others feel: an fsync holds them up too. CPU and idle process tell whose fault it was. */
const heldUp = (what: string, { cpu, clock, queued }: HoldUp, idle: HoldUp): Row => ({
  what: `${what} holds up others`,
  measured: `${clock.toFixed(1)} ms at most (of which it waited ${queued.toFixed(1)} ms for a processor; ${cpu.toFixed(1)} ms of CPU; an idle process: ${idle.clock.toFixed(1)} ms)`,
  target: '≤ 8 ms',
  reached: clock <= 8,
})

const cpuTime = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** How long this thread has waited for a processor so far, in milliseconds. Linux only. */
const queueTime = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1] ?? 0) / 1e6

/** Runs `work` and returns the longest time between two turns of the event loop. */
async function holdUp(work: () => Promise<unknown>): Promise<HoldUp> {
  const longest: HoldUp = { cpu: 0, clock: 0, queued: 0 }
  let [clock, cpu, queue] = [performance.now(), cpuTime(), queueTime()]
  const timer = setInterval(() => {
    const [now, used, queued] = [performance.now(), cpuTime(), queueTime()]
    if (now - clock > longest.clock) [longest.clock, longest.queued] = [now - clock, queued - queue]
    longest.cpu = Math.max(longest.cpu, used - cpu)
    ;[clock, cpu, queue] = [now, used, queued]
  }, 1)
  await work()
  clearInterval(timer)
  return longest
}

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
