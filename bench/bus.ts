/** Measures of the bus door, with real processes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type BusProcess, meet, startBus } from './bus-process.ts'
import { percentile } from './client.ts'
import type { Row } from './rows.ts'
import { cpu, own } from './server.ts'
import { text } from './text.ts'

const writers = 8
const lanes = 16
/** Until the code of all of them is compiled. */
const warmSeconds = 5

export interface BusOptions {
  readonly folder: () => string
  /** How many messages the long topic holds. */
  readonly many: number
  readonly quick: boolean
}

/** `storage` is that of makeTopicStore. */
export async function busRows(
  storage: string,
  { folder, many, quick }: BusOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  say('start to first answer')
  const started = await starts(folder(), quick ? 7 : 11)
  say('wake-ups')
  const woken = await wakeUps(folder(), quick ? 150 : 400)
  say(`${writers} processes writing`)
  const wrote = await throughput(folder, quick ? { rounds: 1, seconds: 2 } : { rounds: 2, seconds: 1.25 })
  const share = (what: string, rate: number, floor: number, target: number): Row => ({
    what: `bus: \`sync\` with one message, ${writers} processes, ${what}`,
    measured: `${Math.round(rate)}/s in all, ${((100 * rate) / floor).toFixed(0)} % of the floor (${Math.round(floor)}/s)`,
    target: `≥ ${target} %`,
    reached: 100 * rate >= target * floor,
  })
  say(`a topic of ${many.toLocaleString('en')}`)
  const { deep, shallow } = await longTopic(storage, quick ? 300 : 500)
  say('50 processes waiting')
  const idle = await waiters(folder(), 50, quick ? 4 : 5)
  return [
    {
      what: 'bus: send → waiting `sync` in another process',
      measured: `p50 ${woken.p50.toFixed(2)} ms, p99 ${woken.p99.toFixed(2)} ms`,
      target: 'p50 ≤ 5 ms, p99 ≤ 25 ms',
      reached: woken.p50 <= 5 && woken.p99 <= 25,
    },
    {
      what: 'bus: 50 waiting processes: CPU',
      measured: `${idle.toFixed(2)} % of a core in all`,
      target: '< 2 %',
      reached: idle < 2,
    },
    share('one call at a time each', wrote.single, wrote.askedFloor, 50),
    share(`${lanes} at a time`, wrote.many, wrote.busyFloor, 70),
    {
      what: `bus: \`sync\` on a topic of ${many.toLocaleString('en')}`,
      measured: `${(deep / shallow).toFixed(2)} × (${deep.toFixed(2)} ms, with 1,000: ${shallow.toFixed(2)} ms)`,
      target: '≤ 1.3 ×',
      reached: deep / shallow <= 1.3,
    },
    {
      what: 'bus: process start to first answer',
      measured: `${started.toFixed(0)} ms`,
      target: '≤ 250 ms',
      reached: started <= 250,
    },
  ]
}

/** The median of several starts, each on a file that is there, as all but the first find it. */
async function starts(storage: string, samples: number): Promise<number> {
  const times: number[] = []
  for (let n = 0; n <= samples; n++) {
    const bus = await startBus(storage)
    if (n > 0) times.push(bus.startedIn)
    await bus.stop()
  }
  return percentile(times, 50)
}

/** From the start of a send to the answer of a `sync` that waits for it in another process. */
async function wakeUps(storage: string, samples: number) {
  const [alice, bob] = [await startBus(storage), await startBus(storage)]
  const topic_id = await meet('wake-ups', [
    [alice, 'alice'],
    [bob, 'bob'],
  ])
  const times: number[] = []
  for (let n = -200; n < samples; n++) {
    const answer = bob.call('sync', { topic_id, wait_seconds: 20 })
    await sleep(4)
    const began = performance.now()
    const sent = alice.call('sync', { topic_id, wait_seconds: 0, outbox: [{ content_markdown: `number ${n}.` }] })
    if (!(await answer).includes(`number ${n}.`)) throw new Error(`number ${n} did not arrive`)
    if (n >= 0) times.push(performance.now() - began)
    await sent
  }
  await Promise.all([alice.stop(), bob.stop()])
  return { p50: percentile(times, 50), p99: percentile(times, 99) }
}

/**
 * Messages a second in all, of processes with one or many calls under way each. Beside the first stand bare writers that
 * are asked for one message at a time, too; beside the second, ones that write without a pause. All in turn.
 */
async function throughput(folder: () => string, { rounds, seconds }: { rounds: number; seconds: number }) {
  const seen: Record<'single' | 'many' | 'askedFloor' | 'busyFloor', number[]> = {
    single: [],
    many: [],
    askedFloor: [],
    busyFloor: [],
  }
  const [parley, floor] = await Promise.all([startWriters(folder()), startBareWriters(folder())])
  await parley.drive({ seconds: warmSeconds, lanes })
  await parley.drive({ seconds, lanes: 1 })
  for (let round = 0; round < rounds; round++) {
    seen.single.push(await parley.drive({ seconds, lanes: 1 }))
    seen.askedFloor.push(await floor.drive({ seconds, asked: true }))
    seen.many.push(await parley.drive({ seconds, lanes }))
    seen.busyFloor.push(await floor.drive({ seconds, asked: false }))
  }
  await Promise.all([parley.stop(), floor.stop()])
  const median = (rates: readonly number[]) => percentile(rates, 50)
  return {
    single: median(seen.single),
    many: median(seen.many),
    askedFloor: median(seen.askedFloor),
    busyFloor: median(seen.busyFloor),
  }
}

async function startWriters(storage: string) {
  const peers = await Promise.all(Array.from({ length: writers }, () => startBus(storage)))
  const topic_id = await meet(
    'busy',
    peers.map((peer, n) => [peer, `peer-${n}`] as const),
  )
  const call = (peer: BusProcess) =>
    peer.call('sync', { topic_id, wait_seconds: 0, outbox: [{ content_markdown: text }] })
  return {
    async drive({ seconds, lanes }: { seconds: number; lanes: number }): Promise<number> {
      const began = performance.now()
      let count = 0
      const lane = async (peer: BusProcess) => {
        for (; performance.now() - began < seconds * 1000; count++) await call(peer)
      }
      await Promise.all(peers.flatMap((peer) => Array.from({ length: lanes }, () => lane(peer))))
      return count / ((performance.now() - began) / 1000)
    },
    stop: () => Promise.all(peers.map((peer) => peer.stop())),
  }
}

async function startBareWriters(storage: string) {
  // Parley makes the file, the topic and the agents; then nobody but the floor has it open.
  await (await startWriters(storage)).stop()
  const floor = fileURLToPath(new URL('floor-bus.ts', import.meta.url))
  const file = join(storage, 'parley.sqlite3')
  const children = Array.from({ length: writers }, (_, n) =>
    own(spawn(process.execPath, [floor, file, String(n + 1), text], { stdio: ['pipe', 'pipe', 'inherit'] })),
  )
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  return {
    async drive({ seconds, asked }: { seconds: number; asked: boolean }): Promise<number> {
      const began = performance.now()
      let count = 0
      const ask = async ({ stdin, stdout }: (typeof children)[number]) => {
        do {
          stdin.write(asked ? '\n' : `${seconds * 1000}\n`)
          const [written] = await once(stdout, 'data')
          count += Number(String(written))
        } while (asked && performance.now() - began < seconds * 1000)
      }
      await Promise.all(children.map(ask))
      return count / ((performance.now() - began) / 1000)
    },
    async stop() {
      for (const child of children) child.stdin.end()
      await Promise.all(children.map((child) => once(child, 'close')))
    },
  }
}

const few = 1000

/** A store with a long topic and a short one. */
export async function makeTopicStore(storage: string, many: number): Promise<void> {
  const first = await startBus(storage)
  const topics = { deep: await meet('deep', [[first, 'reader']]), shallow: await meet('shallow', [[first, 'reader']]) }
  await first.call('topic_create', { name: 'makes the feed' })
  await first.stop()
  seedTopic(storage, topics.deep, many)
  seedTopic(storage, topics.shallow, few)
}

/** The time of a `sync` that sends one message and receives one, on a long and on a short topic, in turn. */
async function longTopic(storage: string, samples: number) {
  const reader = await startBus(storage)
  const topics = {
    deep: await meet('deep', [[reader, 'reader']]),
    shallow: await meet('shallow', [[reader, 'reader']]),
  }
  const times = { deep: [] as number[], shallow: [] as number[] }
  for (let n = -20; n < samples; n++) {
    for (const which of ['deep', 'shallow'] as const) {
      const args = { topic_id: topics[which], wait_seconds: 0, max_items: 1, outbox: [{ content_markdown: text }] }
      const began = performance.now()
      const answer = await reader.call('sync', args)
      if (n >= 0) times[which].push(performance.now() - began)
      if (!answer.includes('"received_count":1')) throw new Error(`a sync brought ${answer}`)
    }
  }
  await reader.stop()
  return { deep: percentile(times.deep, 50), shallow: percentile(times.shallow, 50) }
}

/** Fills a topic behind Parley's back: a million by calls would take minutes. */
export function seedTopic(storage: string, topic: string, count: number): void {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'))
  db.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    INSERT INTO agents (project_id, name, name_key, created_at) SELECT id, 'seed', 'seed', 0 FROM projects WHERE true ON CONFLICT DO NOTHING;
    CREATE TEMP TABLE numbers AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n;
    INSERT INTO messages (uid, thread_id, seq, sender_id, mail, body, created_at)
      SELECT t.uid || '-' || i, t.id, i, a.id, 0, 'message ' || i || ' that waits with many others to be read', 0
      FROM numbers, threads t, agents a WHERE t.uid = '${topic}' AND a.name = 'seed';
    UPDATE threads SET next_seq = ${count + 1} WHERE uid = '${topic}';
    COMMIT;
    DROP TABLE numbers;
    PRAGMA wal_checkpoint(TRUNCATE);`)
  db.close()
}

/** The cost of many processes that all wait on one topic while nothing happens, in per cent of a core. */
async function waiters(storage: string, count: number, seconds: number): Promise<number> {
  const peers: BusProcess[] = []
  // A few at a time: starting is what costs.
  while (peers.length < count) peers.push(...(await Promise.all(Array.from({ length: 10 }, () => startBus(storage)))))
  const topic_id = await meet(
    'quiet',
    peers.map((peer, n) => [peer, `peer-${n}`] as const),
  )
  const answers = peers.map((peer) => peer.call('sync', { topic_id, wait_seconds: 45 }))
  // The last look after the last write comes about three seconds later.
  const written = () => statSync(join(storage, 'parley.sqlite3-wal')).mtimeMs
  while (Date.now() - written() < 3500) await sleep(200)
  const used = () => peers.reduce((sum, { pid }) => sum + cpu(pid), 0)
  const before = used()
  await sleep(seconds * 1000)
  const percent = (100 * (used() - before)) / (seconds * 1000)
  await Promise.all(peers.map((peer) => peer.stop()))
  void Promise.allSettled(answers)
  return percent
}
