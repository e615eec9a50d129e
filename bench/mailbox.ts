/** Measures of the mailbox door, beside its throughput: deep mailboxes, wake-ups, many waiters. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient, percentile } from './client.ts'
import { crowdRows } from './crowd.ts'
import type { Row } from './rows.ts'
import { seed } from './seed.ts'
import { cpu, memory, type Running, startParley } from './server.ts'

const few = 1000

/** A store with a deep mailbox and a shallow one. */
export async function makeMailboxStore(storage: string, many: number): Promise<void> {
  const first = await startParley(storage)
  const maker = await openClient(first.port, 'maker')
  await maker.call('send_to_agent', { name: 'maker', msg: 'makes the project' })
  maker.close()
  await first.stop()
  seed(storage, 'deep', many)
  seed(storage, 'shallow', few)
}

/** The time of a pop with many unread messages behind it and with few, taken in turn on one server. */
async function deepMailbox(storage: string) {
  const parley = await startParley(storage)
  const [deep, shallow] = [await openClient(parley.port, 'deep'), await openClient(parley.port, 'shallow')]
  const times = { deep: [] as number[], shallow: [] as number[] }
  for (let n = 0; n < few - 400; n++) {
    for (const [client, list] of [
      [deep, times.deep],
      [shallow, times.shallow],
    ] as const) {
      const began = performance.now()
      const answer = await client.call('check_mail', {})
      if (!answer.includes('"content"')) throw new Error(`a pop brought ${answer}`)
      list.push(performance.now() - began)
    }
  }
  deep.close()
  shallow.close()
  await parley.stop()
  return { deep: percentile(times.deep, 50), shallow: percentile(times.shallow, 50) }
}

/** From the start of a send to the answer of a `check_mail` that waits for it; at the same server, or at another on the same file. */
export async function wakeUps(sender: Running, receiver: Running, samples: number) {
  const [alice, bob] = [await openClient(sender.port, 'alice'), await openClient(receiver.port, 'bob')]
  const times: number[] = []
  for (let n = -200; n < samples; n++) {
    const mail = bob.call('check_mail', { wait_seconds: 20 })
    await sleep(4)
    const began = performance.now()
    const sent = alice.call('send_to_agent', { name: 'bob', msg: `number ${n}` })
    const answer = await mail
    if (n >= 0) times.push(performance.now() - began)
    if (!answer.includes(`number ${n}`)) throw new Error(`expected number ${n}, got ${answer}`)
    await sent
  }
  alice.close()
  bob.close()
  return { p50: percentile(times, 50), p99: percentile(times, 99) }
}

/** The part of the disk in a wake-up: a send and a take each wait until what they wrote is on it. 28 KB, as a commit of one message writes. */
async function bareSyncs(storage: string, samples: number): Promise<number> {
  const handle = openSync(join(storage, 'bare'), 'w')
  const commit = Buffer.alloc(28 * 1024)
  const times: number[] = []
  for (let n = 0; n < samples; n++) {
    await sleep(4)
    const began = performance.now()
    for (let syncs = 0; syncs < 2; syncs++) {
      writeSync(handle, commit)
      fdatasyncSync(handle)
    }
    times.push(performance.now() - began)
  }
  closeSync(handle)
  return percentile(times, 50)
}

/** The cost of many waiting calls: memory on top, and CPU while nothing happens. */
async function waiters(storage: string, count: number, seconds: number) {
  const parley = await startParley(storage)
  const warm = await openClient(parley.port, 'warm')
  for (let n = 0; n < 200; n++) await warm.call('check_mail', {})
  await sleep(1000)
  const idle = memory(parley.pid)
  const clients = await Promise.all(Array.from({ length: count }, (_, n) => openClient(parley.port, `waiter-${n}`)))
  const answers = clients.map((client) => client.call('check_mail', { wait_seconds: 49 }))
  await sleep(1500)
  const waiting = memory(parley.pid)
  const before = cpu(parley.pid)
  await sleep(seconds * 1000)
  const used = (cpu(parley.pid) - before) / (seconds * 1000)
  for (const client of clients) client.close()
  warm.close()
  await parley.stop()
  void Promise.allSettled(answers)
  return { idle, more: waiting - idle, cpuPercent: used * 100, startedIn: parley.startedIn }
}

export interface MailboxOptions {
  readonly folder: () => string
  /** How many messages the deep mailbox holds. */
  readonly many: number
  readonly quick: boolean
}

export async function mailboxRows(
  deepStorage: string,
  { folder, many, quick }: MailboxOptions,
  say: (text: string) => void,
): Promise<Row[]> {
  const rows: Row[] = []
  say(`a mailbox of ${many.toLocaleString('en')}`)
  const { deep, shallow } = await deepMailbox(deepStorage)
  rows.push({
    what: `a pop with ${many.toLocaleString('en')} unread behind it`,
    measured: `${(deep / shallow).toFixed(2)} × (${deep.toFixed(2)} ms, with 1,000: ${shallow.toFixed(2)} ms)`,
    target: '≤ 1.3 ×',
    reached: deep / shallow <= 1.3,
  })

  say('wake-ups')
  const storage = folder()
  const [one, other] = [await startParley(storage), await startParley(storage)]
  const samples = quick ? 150 : 300
  const here = await wakeUps(one, one, samples)
  const there = await wakeUps(one, other, samples)
  const disk = `two bare fsyncs here: ${(await bareSyncs(storage, samples)).toFixed(2)} ms`
  await Promise.all([one.stop(), other.stop()])
  rows.push(
    {
      what: 'send → waiting `check_mail` has its answer',
      measured: `p50 ${here.p50.toFixed(2)} ms, p99 ${here.p99.toFixed(2)} ms (${disk})`,
      target: 'p50 ≤ 2 ms, p99 ≤ 8 ms',
      reached: here.p50 <= 2 && here.p99 <= 8,
    },
    {
      what: 'the same, other process on the same file',
      measured: `p50 ${there.p50.toFixed(2)} ms, p99 ${there.p99.toFixed(2)} ms (${disk})`,
      target: 'p50 ≤ 3 ms, p99 ≤ 8 ms',
      reached: there.p50 <= 3 && there.p99 <= 8,
    },
  )

  say('1,000 waiting calls')
  const w = await waiters(folder(), 1000, quick ? 3 : 4)
  rows.push(
    {
      what: '1,000 waiting `check_mail`: memory',
      measured: `${w.more.toFixed(0)} MB more`,
      target: '≤ 40 MB',
      reached: w.more <= 40,
    },
    {
      what: '1,000 waiting `check_mail`: CPU',
      measured: `${w.cpuPercent.toFixed(1)} % of a core`,
      target: 'not measurable',
      reached: w.cpuPercent < 1,
    },
    { what: 'idle memory', measured: `${w.idle.toFixed(0)} MB`, target: '≤ 100 MB', reached: w.idle <= 100 },
    {
      what: 'start to ready',
      measured: `${w.startedIn.toFixed(0)} ms`,
      target: '≤ 400 ms',
      reached: w.startedIn <= 400,
    },
  )
  rows.push(...(await crowdRows(folder(), say)))
  return rows
}
