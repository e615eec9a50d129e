/** Reach: whether a message gets through to its recipient now, later, or perhaps never; told to its sender with the receipt. */
import type { Caller } from '../access/callers.ts'
import { mayRoam } from '../access/rules.ts'
import { activity } from '../agents/activity.ts'
import type { Hub } from '../hub/hub.ts'
import { listCrossed } from '../messages/crossing.ts'
import { listHeldWakes } from '../messages/loops.ts'
import type { Delivery, Sent } from '../messages/receipt.ts'
import { whoWaits } from './presence.ts'
import { readingRates } from './reading-rate.ts'
import { findRecipientFacts } from './recipient-facts.ts'
import { type Hooked, hookedSessions } from './sessions.ts'

/**
 *   waiting    a call or stream of the agent waits for mail
 *   wakeable   it is idle, and a waiter wakes its client
 *   next_turn  hooks of its client work: it is told when a turn begins, or at the next step of the one that runs
 *   active     it did something within the last two minutes
 *   away       none of these
 *   never      nobody has ever acted under its name
 */
type ReachState = 'waiting' | 'wakeable' | 'active' | 'next_turn' | 'away' | 'never'

export interface Reach {
  readonly state: ReachState
  /** Since it last did something. */
  readonly seenSeconds?: number
  /** The client by which it is woken or told. */
  readonly via?: string
  /** How many unread messages it has before this one: with it a sender tells a queue from a loss. */
  readonly behind?: number
  readonly text: string
}

export type Reached = Omit<Sent, 'deliveries'> & {
  readonly deliveries: readonly (Delivery & { readonly reach: Reach })[]
  /** Messages of the thread that the sender was sent and has not seen: they crossed with this one. */
  readonly unreadInThread: readonly number[]
}

/** After this long without a call an agent may still be in a long turn; later it is away. */
const activeMs = 120_000

/**
 * Sends, and tells how each recipient is reached. Who may not write to an agent learns nothing of it: only recipients that took the
 * message have a reach (waking.reach.contacts). Asked from memory and by what the send itself has found.
 */
export async function reaching(hub: Hub, caller: Caller, sending: () => Promise<Sent>): Promise<Reached> {
  // A waiter that this message answers is gone before its sender has the receipt.
  const since = hub.clock.monotonic()
  return withReach(hub, caller, await sending(), since)
}

/** The same for a message that was sent before `since`, by the monotonic clock. */
export async function withReach(hub: Hub, _caller: Caller, sent: Sent, since: number): Promise<Reached> {
  const present = await whoWaits(hub)
  const facts = await findRecipientFacts(hub, sent)
  const hooked = await hookedSessions(
    hub,
    sent.deliveries.map(({ agent }) => agent.id),
  )
  const now = hub.clock.now()
  const heldIds = await listHeldWakes(hub, sent)
  const known = ({ agent: { id }, found }: Delivery) =>
    (found ? { behind: found.unread, activeAt: found.activeAt } : facts.get(id)) ?? { behind: 0, activeAt: 0 }
  const late = sent.deliveries.filter((delivery) => known(delivery).behind > 0)
  const rates = await readingRates(
    hub,
    late.map(({ agent }) => agent.id),
  )
  const deliveries = sent.deliveries.map((delivery) => {
    const { id } = delivery.agent
    const { behind, activeAt } = known(delivery)
    const seenAt = activity(hub).latest(id, activeAt)
    const standing = present.of(id, since)
    const seenMs = seenAt === 0 ? undefined : now - seenAt
    const paused = heldIds.has(id)
    return {
      ...delivery,
      reach: judge({ standing, sessions: hooked(id), behind, rate: rates.get(id), seenMs, paused }),
    }
  })
  return { ...sent, deliveries, unreadInThread: await listCrossed(hub, sent) }
}

/** How agents are reached now, by their ids: for people and others who see all agents. To an agent it would show who is there. */
export async function describeReach(
  hub: Hub,
  caller: Caller,
  agents: readonly { readonly id: number; readonly activeAt: number; readonly behind?: number }[],
): Promise<ReadonlyMap<number, Reach>> {
  if (!mayRoam(caller) || agents.length === 0) return new Map()
  const present = await whoWaits(hub)
  const hooked = await hookedSessions(
    hub,
    agents.map(({ id }) => id),
  )
  const now = hub.clock.now()
  const rates = await readingRates(
    hub,
    agents.filter(({ behind = 0 }) => behind > 0).map(({ id }) => id),
  )
  return new Map(
    agents.map(({ id, activeAt, behind = 0 }) => {
      const seenAt = activity(hub).latest(id, activeAt)
      const seenMs = seenAt === 0 ? undefined : now - seenAt
      return [id, judge({ standing: present.of(id), sessions: hooked(id), behind, rate: rates.get(id), seenMs })]
    }),
  )
}

interface Facts {
  readonly sessions: readonly Hooked[]
  readonly standing: { readonly waiting: boolean; readonly via: string | undefined } | undefined
  readonly behind: number
  /** How fast it reads, where that is known. */
  readonly rate?: string | undefined
  readonly seenMs: number | undefined
  /** The loop guard keeps it from being woken for this message. */
  readonly paused?: boolean
}

function judge({ standing, sessions, behind, rate, seenMs, paused = false }: Facts): Reach {
  const seen = seenMs === undefined ? undefined : Math.max(0, Math.round(seenMs / 1000))
  const how = (state: ReachState, words: string, via?: string): Reach => {
    const text = paused ? `${words}; ${pausedWords}` : words
    return {
      state,
      ...(seen !== undefined && { seenSeconds: seen }),
      ...(via !== undefined && { via }),
      ...(behind > 0 && { behind }),
      text: behind > 0 ? `${text}; ${behind} unread before yours${rate ? `, reads ${rate}` : ''}` : text,
    }
  }
  if (standing?.waiting) return how('waiting', 'waiting now')
  const via = standing?.via
  const own = sessions.filter(({ client }) => client === via)
  const held = own.length > 0 && own.every((session) => session.held)
  if (via !== undefined && !held && !paused) return how('wakeable', `idle, will be woken (${via})`, via)
  const [session] = sessions
  if (session !== undefined) return how('next_turn', 'sees it at its next turn', via ?? session.client)
  if (seen === undefined || seenMs === undefined) return how('never', 'has never been here')
  if (seenMs < activeMs) return how('active', `seen ${inWords(seen)} ago`)
  return how('away', `last seen ${inWords(seen)} ago; no wake adapter`)
}

/** Said in each receipt while waking is paused, to both sides. */
const pausedWords =
  'waking is paused, because agents only answered each other: a message of a person, or `parley loops resume`, lets it go on'

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

export function inWords(seconds: number): string {
  const unit = units.find(([, length]) => seconds >= length)
  return unit === undefined ? `${seconds} s` : `${Math.floor(seconds / unit[1])} ${unit[0]}`
}
