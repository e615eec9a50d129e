/** What the mailbox door is measured by. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient, percentile } from './client.ts'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import { seed } from './seed.ts'
import { cpu, memory, type Running, run, startFloor, startParley } from './server.ts'

const connections = 64

export interface Throughput {
  floorHttp: number
  floorSend: number
  floorCheck: number
  plain: number
  session: number
  modern: number
  check: number
}

const load = async (order: Order): Promise<number> => {
  const { microseconds, errors, calls } = await run<Load>('load.ts', JSON.stringify(order))
  if (errors > 0) throw new Error(`${errors} of ${calls} calls failed`)
  return microseconds
}

/** Microseconds a call, Parley and floors in turn, the median of several rounds: the machine's mood changes by the second. */
export async function throughput(
  folder: () => string,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Throughput> {
  const seen: Record<keyof Throughput, number[]> = {
    floorHttp: [],
    floorSend: [],
    floorCheck: [],
    plain: [],
    session: [],
    modern: [],
    check: [],
  }
  for (let round = 0; round < rounds; round++) {
    const floor = await startFloor()
    await load({ port: floor.port, call: 'send', era: 'plain', connections, seconds: 0.5 })
    seen.floorHttp.push(await load({ port: floor.port, call: 'send', era: 'plain', connections, seconds }))
    await floor.stop()
    const rows = await run<{ send: number; check: number }>('floor-sqlite.ts', String(seconds), folder())
    seen.floorSend.push(rows.send)
    seen.floorCheck.push(rows.check)
    const parley = await startParley(folder())
    const { port } = parley
    // Until its code is compiled: a server runs for days.
    await load({ port, call: 'send', era: 'plain', connections, seconds: 2 })
    for (const era of ['plain', 'session', 'modern'] as const)
      seen[era].push(await load({ port, call: 'send', era, connections, seconds }))
    seen.check.push(await load({ port, call: 'check', era: 'plain', connections, seconds }))
    await parley.stop()
  }
  return Object.fromEntries(
    Object.entries(seen).map(([name, values]) => [name, percentile(values, 50)]),
  ) as unknown as Throughput
}

/** The time of a pop with many unread messages behind it and with few, taken in turn on one server. */
export async function deepMailbox(storage: string, { many, few }: { many: number; few: number }) {
  const first = await startParley(storage)
  const maker = await openClient(first.port, 'maker')
  await maker.call('send_to_agent', { name: 'maker', msg: 'makes the project' })
  maker.close()
  await first.stop()
  seed(storage, 'deep', many)
  seed(storage, 'shallow', few)
  const parley = await startParley(storage)
  const [deep, shallow] = [await openClient(parley.port, 'deep'), await openClient(parley.port, 'shallow')]
  const times = { deep: [] as number[], shallow: [] as number[] }
  for (let n = 0; n < few - 100; n++) {
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
  for (let n = 0; n < samples; n++) {
    const mail = bob.call('check_mail', { wait_seconds: 20 })
    await sleep(4)
    const began = performance.now()
    const sent = alice.call('send_to_agent', { name: 'bob', msg: `number ${n}` })
    const answer = await mail
    times.push(performance.now() - began)
    if (!answer.includes(`number ${n}`)) throw new Error(`expected number ${n}, got ${answer}`)
    await sent
  }
  alice.close()
  bob.close()
  return { p50: percentile(times, 50), p99: percentile(times, 99) }
}

/** What many waiting calls cost: memory on top, and CPU while nothing happens. */
export async function waiters(storage: string, count: number, seconds: number) {
  const parley = await startParley(storage)
  const warm = await openClient(parley.port, 'warm')
  for (let n = 0; n < 200; n++) await warm.call('check_mail', {})
  await sleep(1000)
  const idle = memory(parley.pid)
  const clients = await Promise.all(Array.from({ length: count }, (_, n) => openClient(parley.port, `waiter-${n}`)))
  const answers = clients.map((client) => client.call('check_mail', { wait_seconds: 49 }))
  await sleep(2000)
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
