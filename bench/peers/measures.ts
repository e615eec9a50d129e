/** The measurements of `npm run bench:peers`: systems of one kind take turns, each on a store of its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../client.ts'
import { cpu, memory, ownMemory } from '../server.ts'
import { text } from '../text.ts'
import { type House, type Member, persist, type System } from './member.ts'

export interface Sizes {
  readonly starts: number
  readonly deliveries: number
  /** Slices of each system for each number of writers. */
  readonly rounds: number
  readonly sliceSeconds: number
  readonly waiters: number
  readonly idleSeconds: number
}

export interface Line {
  readonly what: string
  /** A cell for each system, in the order in which they were given. */
  readonly measured: readonly string[]
}

/** The contents of bench/peers.json. */
export interface Peers {
  readonly day: string
  readonly commit: string
  readonly machine: string
  readonly sections: readonly Section[]
}

export interface Section {
  readonly title: string
  readonly asked: string
  readonly systems: readonly Omit<System, 'open'>[]
  readonly lines: readonly Line[]
}

const writerCounts = [1, 2, 8] as const

const median = (values: readonly number[]) => percentile(values, 50)

export async function compare(systems: readonly System[], sizes: Sizes, say: (text: string) => void): Promise<Line[]> {
  const lines: Line[] = []
  const line = (what: string, measured: readonly string[]) => lines.push({ what, measured })

  say('start')
  line(
    'start of the process to ready, median',
    (await starts(systems, sizes.starts)).map((times) => `${median(times).toFixed(0)} ms`),
  )
  say('delivery to a waiting agent')
  line(
    'send → the answer of an agent that waits, p50 / p99',
    (await deliveries(systems, sizes.deliveries)).map(
      ({ times, refused: { count } }) =>
        `${ms(percentile(times, 50))} / ${ms(percentile(times, 99))}${count > 0 ? ` (${count} refused calls repeated)` : ''}`,
    ),
  )
  const houses = await open(systems)
  const failed: Rates[][] = []
  for (const count of writerCounts) {
    say(`writers: ${count}`)
    const seen = await rates(houses, count, sizes)
    line(
      `messages a second, ${count === 1 ? 'one writer' : `${count} writers`}, one call at a time each, median (range)`,
      seen.map(({ rates }) => range(rates)),
    )
    failed.push(seen)
  }
  line(
    `errors a thousand of these calls, ${writerCounts.join(' / ')} writers`,
    systems.map((_, n) => failureCell(failed.map((seen) => seen[n] ?? nothing()))),
  )
  line(
    'memory of a process that has written, resident',
    houses.map(({ house }) => `${median(house.pids.map(memory)).toFixed(0)} MB`),
  )
  await Promise.all(houses.map(({ house }) => house.close()))
  // One system after the other: a hundred processes at once would leave no room for the figures.
  const idle: Idle[] = []
  for (const system of systems) {
    say(`${sizes.waiters} waiting: ${system.name}`)
    idle.push(await waiters(system, sizes))
  }
  line(
    `${sizes.waiters} agents join, five at a time: calls that were refused and repeated`,
    idle.map(({ refusedJoins }) => String(refusedJoins)),
  )
  line(
    `${sizes.waiters} agents that wait, nothing happens: CPU in all`,
    idle.map(({ percent }) => `${percent.toFixed(2)} % of a core`),
  )
  line(
    'the same: memory in all, shared pages once',
    idle.map(
      ({ megabytes, processes }) => `${megabytes.toFixed(0)} MB in ${processes} process${processes === 1 ? '' : 'es'}`,
    ),
  )
  return lines
}

const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`

const range = (values: readonly number[]): string => {
  const digits = median(values) < 10 ? 1 : 0
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`
}

interface Opened {
  readonly house: House
  readonly members: Member[]
}

const open = (systems: readonly System[]): Promise<Opened[]> =>
  Promise.all(systems.map(async (system) => ({ house: await system.open(), members: [] })))

/** On a store that is there, as all but the first start find it, is what a bus shows; a server gets an empty one. */
async function starts(systems: readonly System[], samples: number): Promise<number[][]> {
  const times: number[][] = systems.map(() => [])
  for (let n = 0; n < samples; n++)
    for (const [which, system] of systems.entries()) {
      const house = await system.open()
      for (const name of ['first', 'second']) await house.join(name)
      times[which]?.push(house.started.at(-1) ?? Number.NaN)
      await house.close()
    }
  return times
}

interface Delivered {
  readonly times: number[]
  readonly refused: { count: number }
}

/**
 * All systems have an agent that waits; after a pause each gets its message, in turn. The pauses spread evenly from 50 ms
 * to 1.5 s: a system that polls must not be met always at the same moment.
 */
async function deliveries(systems: readonly System[], samples: number): Promise<Delivered[]> {
  const houses = await Promise.all(systems.map((system) => system.open()))
  const pairs: { alice: Member; bob: Member }[] = []
  for (const house of houses) pairs.push({ alice: await house.join('alice'), bob: await house.join('bob') })
  const seen = systems.map((): Delivered => ({ times: [], refused: { count: 0 } }))
  for (let n = -3; n < samples; n++) {
    const mail = pairs.map(({ bob }, which) => persist(seen[which]?.refused ?? { count: 0 }, bob.receive))
    await sleep(50 + 1450 * ((((n + 3) * 0.618034) % 1) as number))
    for (let turn = 0; turn < pairs.length; turn++) {
      const which = (n + 3 + turn) % pairs.length
      const [pair, into] = [pairs[which], seen[which]]
      if (pair === undefined || into === undefined) continue
      const began = performance.now()
      const sent = persist(into.refused, () => pair.alice.send('bob', `number ${n}.`))
      if (!(await mail[which])?.includes(`number ${n}.`))
        throw new Error(`${systems[which]?.name}: ${n} did not arrive`)
      if (n >= 0) into.times.push(performance.now() - began)
      await sent
    }
  }
  await Promise.all(houses.map((house) => house.close()))
  return seen
}

interface Rates {
  rates: number[]
  calls: number
  /** By what the answer says. */
  errors: Map<string, number>
}

const nothing = (): Rates => ({ rates: [], calls: 0, errors: new Map() })

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)

function failureCell(seen: readonly Rates[]): string {
  const shares = seen.map(({ calls, errors }) => ((1000 * sum(errors.values())) / calls).toFixed(0))
  const reasons = new Set(seen.flatMap(({ errors }) => [...errors.keys()]))
  return `${shares.join(' / ')}${reasons.size > 0 ? ` (${[...reasons].join(', ')})` : ''}`
}

const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  return /"code":"?([\w-]+)/.exec(message)?.[1] ?? /"text":"([^"]{1,60})/.exec(message)?.[1] ?? message.slice(0, 60)
}

async function rates(houses: readonly Opened[], count: number, { rounds, sliceSeconds }: Sizes): Promise<Rates[]> {
  for (const { house, members } of houses)
    while (members.length < count) members.push(await house.join(`writer-${members.length}`))
  const seen = houses.map(nothing)
  for (let round = -1; round < rounds; round++)
    for (let turn = 0; turn < houses.length; turn++) {
      const which = (round + 1 + turn) % houses.length
      const slice = await write(houses[which]?.members.slice(0, count) ?? [], sliceSeconds)
      const into = seen[which]
      if (into === undefined || round < 0) continue
      into.rates.push((slice.calls - sum(slice.errors.values())) / slice.seconds)
      into.calls += slice.calls
      for (const [reason, count] of slice.errors) into.errors.set(reason, (into.errors.get(reason) ?? 0) + count)
    }
  return seen
}

/** A writer that is refused rests for 20 ms, lest it make errors faster than messages. */
async function write(members: readonly Member[], seconds: number) {
  const slice = { calls: 0, errors: new Map<string, number>(), seconds: 0 }
  const began = performance.now()
  const elapsed = () => (performance.now() - began) / 1000
  await Promise.all(
    members.map(async (member, n) => {
      for (; elapsed() < seconds; slice.calls++)
        try {
          await member.send(`reader-${n}`, text)
        } catch (error) {
          slice.errors.set(reasonOf(error), (slice.errors.get(reasonOf(error)) ?? 0) + 1)
          await sleep(20)
        }
    }),
  )
  slice.seconds = elapsed()
  return slice
}

interface Idle {
  readonly percent: number
  readonly megabytes: number
  readonly processes: number
  readonly refusedJoins: number
}

async function waiters(system: System, { waiters: count, idleSeconds }: Sizes): Promise<Idle> {
  const house = await system.open()
  const members: Member[] = []
  // A few at a time: starting is what costs. The first makes the store.
  members.push(await house.join('waiter-0'))
  while (members.length < count) {
    const names = Array.from({ length: Math.min(5, count - members.length) }, (_, n) => `waiter-${members.length + n}`)
    members.push(...(await Promise.all(names.map((name) => house.join(name)))))
  }
  // A refusal must not make it look idler than it is. What ends these calls is the end of the house.
  let closed = false
  for (const member of members)
    void persist({ count: 0 }, async () => closed || (await member.receive())).catch(() => {})
  await sleep(6000)
  const used = () => house.pids.reduce((sum, pid) => sum + cpu(pid), 0)
  const [before, began] = [used(), performance.now()]
  await sleep(idleSeconds * 1000)
  const percent = (100 * (used() - before)) / (performance.now() - began)
  const megabytes = house.pids.reduce((sum, pid) => sum + ownMemory(pid), 0)
  const [processes, refusedJoins] = [house.pids.length, house.refusedJoins]
  closed = true
  await house.close()
  return { percent, megabytes, processes, refusedJoins }
}
