/** One file, few or many `parley bus` processes on it: the first writes, the last takes and searches, the others wait in a quiet topic. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seedTopic } from '../bus.ts'
import { type BusProcess, meet, startBus } from '../bus-process.ts'
import { ownMemory } from '../server.ts'
import { text } from '../text.ts'
import type { Effort } from './servers.ts'
import { type GrowthLine, judge } from './table.ts'

interface House {
  readonly storage: string
  readonly processes: BusProcess[]
  /** The topic that is written to, and one with messages that wait to be taken. */
  readonly busy: string
  readonly deep: string
}

async function openHouse(storage: string, count: number, depth: number): Promise<House> {
  const first = await startBus(storage)
  const deep = await meet('deep', [[first, 'maker']])
  await first.stop()
  seedTopic(storage, deep, depth)
  const processes: BusProcess[] = []
  // A few at a time: starting is what costs.
  while (processes.length < count) {
    const more = Math.min(4, count - processes.length)
    processes.push(...(await Promise.all(Array.from({ length: more }, () => startBus(storage)))))
  }
  const named = processes.map((bus, n) => [bus, `peer-${n}`] as const)
  const topics = { quiet: await meet('quiet', named), busy: await meet('busy', named) }
  await processes.at(-1)?.call('topic_join', { agent_name: 'reader', topic_id: deep })
  for (const bus of processes.slice(1, -1)) void waitOn(bus, topics.quiet)
  return { storage, processes, busy: topics.busy, deep }
}

/** Waits for what does not come, again and again until the process ends. */
async function waitOn(bus: BusProcess, topic_id: string): Promise<void> {
  const wait = () => bus.call('sync', { topic_id, wait_seconds: 60 }).then(() => true)
  while (await wait().catch(() => false));
}

export async function processLines(
  counts: readonly number[],
  { starts, rounds }: Effort,
  folder: () => string,
): Promise<GrowthLine[]> {
  const houses: House[] = []
  for (const count of counts) houses.push(await openHouse(folder(), count, 2 * rounds + 100))
  const seen = () => houses.map((): number[] => [])
  const [started, sent, taken, found, written] = [seen(), seen(), seen(), seen(), seen()]
  for (let n = 0; n < starts; n++)
    for (const [which, { storage }] of houses.entries()) {
      const bus = await startBus(storage)
      started[which]?.push(bus.startedIn)
      await bus.stop()
    }
  await sleep(3000)
  const warm = Math.ceil(rounds / 3)
  // One kind of call after the other: a search right after a send would also index what was sent.
  for (const [call, into] of [
    [send, sent],
    [take, taken],
    [find, found],
  ] as const)
    for (let n = 0; n < warm + rounds; n++)
      for (const [which, house] of houses.entries()) {
        const took = await call(house)
        if (n >= warm) into[which]?.push(took)
      }
  for (let n = 0; n < 4; n++)
    for (const [which, house] of houses.entries()) {
      const milliseconds = await writeAll(house, 1000)
      if (n > 0) written[which]?.push(milliseconds)
    }
  const memory = houses.map(({ processes }) => processes.map(({ pid }) => ownMemory(pid)))
  await Promise.all(houses.flatMap(({ processes }) => processes.map((bus) => bus.stop())))
  return [
    judge({
      what: '`sync` that sends one',
      unit: 'ms',
      seen: sent,
      why: 'Every process hears of every commit and looks once, and here many share two cores.',
    }),
    judge({
      what: '`sync` that takes one',
      unit: 'ms',
      seen: taken,
      why: 'To take is a commit, too: every process hears of it and looks once.',
    }),
    judge({ what: '`messages_search`', unit: 'ms', seen: found }),
    judge({ what: 'one more process: start to first answer', unit: 'ms', seen: started }),
    judge({
      what: 'all write, one call at a time each: time a message in all',
      unit: 'ms',
      seen: written,
      why: 'One process writes at a time, each message is a commit of its own, and the others wait for the lock and for a core.',
    }),
    judge({ what: 'memory a process, its part of shared pages', unit: 'MB', seen: memory }),
  ]
}

const once = { wait_seconds: 0, max_items: 1 }

const send = ({ processes, busy }: House): Promise<number> =>
  timed(processes[0], 'sync', { topic_id: busy, ...once, outbox: [{ content_markdown: text }] }, '"sent"')

const take = ({ processes, deep }: House): Promise<number> =>
  timed(processes.at(-1), 'sync', { topic_id: deep, ...once }, '"received_count":1')

const find = ({ processes, deep }: House): Promise<number> =>
  timed(processes.at(-1), 'messages_search', { topic_id: deep, query: '77', limit: 1 }, '"snippet"')

async function timed(bus: BusProcess | undefined, tool: string, args: object, expected: string): Promise<number> {
  const began = performance.now()
  const answer = (await bus?.call(tool, { ...args })) ?? ''
  const took = performance.now() - began
  if (!answer.includes(expected)) throw new Error(`${tool} brought ${answer.slice(0, 300)}`)
  return took
}

/** Milliseconds a message in all, while every process writes. */
async function writeAll({ processes, busy: topic_id }: House, ms: number): Promise<number> {
  const began = performance.now()
  let count = 0
  await Promise.all(
    processes.map(async (bus) => {
      for (; performance.now() - began < ms; count++)
        await bus.call('sync', { topic_id, wait_seconds: 0, max_items: 1, outbox: [{ content_markdown: text }] })
    }),
  )
  return (performance.now() - began) / count
}
