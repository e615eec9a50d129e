/** Announcing mail: an agent that cannot know of a message yet is told of it once, by the route that comes first. */

import {
  type AnnounceTerms,
  claimAnnouncements,
  deleteSettled,
  findNextFree,
  hasUnannounced,
  listAnnounced,
  listUnconfirmed,
  updateConfirmed,
  updateOffered,
  updateReturned,
} from '../../store/mail/announcements.ts'
import type { Caller } from '../access/callers.ts'
import { needWriting } from '../access/rules.ts'
import { type Acting, findActor } from '../agents/acting.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { agentWaiter } from '../hub/waits.ts'
import { deliveredMarked } from '../mail/delivered.ts'
import { heldWakes, notePrompted, noteWoken } from '../messages/loops.ts'
import { type Pointer, pointTo } from './pointer.ts'
import { addWaiter, hasWaiter } from './presence.ts'
import { type ClientSession, heldUntil, isHeard, stepOf } from './sessions.ts'

/**
 *   free       ── a route takes it ──▶ announced
 *   announced  ── a turn begins with the pointer, or the route says that its client has it ──▶ confirmed
 *   announced  ── the route gives it back ──▶ as before
 *   announced  ── nothing for confirmMs ──▶ free, three times at most
 *   confirmed, or announced for the third time
 *              ── still unread after remindMs, and a turn begins ──▶ confirmed, for good
 *   any        ── read, or its text given out ──▶ gone
 */
export const mostTries = 3

/** A pointer names this many messages; those behind come with the next one. */
const mostNamed = 50

/** A turn waits for it, and the disk may take longer than all the rest. After a power cut mail is announced once more. */
const unflushed = { repeatable: true }

/** A way by which an agent is told. */
interface Route {
  /** The client, as `claude`. */
  readonly via: string
  /** The client's own name for its session. */
  readonly session: string
  /** A turn begins: mail that was told long ago and is still unread is told once more. */
  readonly reminds?: boolean
  /** It makes the agent go on where it would have stopped. */
  readonly wakes?: boolean
  /** Left to the waiter of the session, where one stands. */
  readonly unlessWaiting?: boolean
}

/** Names that clients give themselves are no labels of a metric: these are known (doors/hooks/dialects.ts), all others are one. */
const knownRoutes = new Set(['claude', 'codex', 'gemini', 'vscode', 'opencode', 'openclaw'])

type PushOutcome = 'told' | 'confirmed' | 'returned'

const countPushes = (hub: Hub, via: string, outcome: PushOutcome, messages: number): void =>
  hub.metrics.pushes.labels(knownRoutes.has(via) ? via : 'other', outcome).inc(messages)

/** Takes the mail that the agent was not told of. Undefined where there is none: then nothing is written. */
export async function announce(hub: Hub, acting: Acting, route: Route): Promise<Pointer | undefined> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (isNewcomer(agent) || (route.unlessWaiting && hasWaiter(hub, { agentId: agent.id, ...route }))) return undefined
  return announceTo(hub, acting.caller, agent, route)
}

/** A prompt that is no pointer came to a session of the agent: a person leads it again (waking.loop.counts). */
export async function notePrompt(hub: Hub, acting: Acting): Promise<void> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (!isNewcomer(agent)) await notePrompted(hub, acting.caller, agent)
}

async function termsOf(hub: Hub, agent: Agent, { reminds, wakes }: Route): Promise<AnnounceTerms> {
  const now = hub.clock.now()
  const { confirmMs, remindMs } = hub.rules.waking
  return {
    agentId: agent.id,
    now,
    unconfirmedBefore: now - confirmMs,
    confirmedBefore: reminds ? now - remindMs : 0,
    mostTries,
    // A pause holds the waking: a turn that runs anyway is told.
    ...(wakes && { held: await heldWakes(hub, agent.id) }),
  }
}

async function announceTo(hub: Hub, caller: Caller, agent: Agent, route: Route): Promise<Pointer | undefined> {
  const terms = await termsOf(hub, agent, route)
  if (!(await hasUnannounced(reader(hub), terms))) return undefined
  // Mail that the agent has just read is marked behind its answer.
  await deliveredMarked(hub, agent.id)
  const { now } = terms
  const { via, session } = route
  const { ids, rows } = await commit(
    hub,
    caller,
    async (tx) => {
      const claimed = await claimAnnouncements(tx, { ...terms, via, session, limit: mostNamed })
      const rows = claimed.length === 0 ? [] : await listAnnounced(tx, claimed)
      const ids = rows.map(({ delivery_id }) => delivery_id)
      if (claimed.length === 0) return { ids, rows }
      await updateOffered(tx, ids, now, via)
      await deleteSettled(tx, agent.id)
      return { ids, rows }
    },
    unflushed,
  )
  if (ids.length === 0) return undefined
  countPushes(hub, via, 'told', ids.length)
  const putBack = () => giveBack(hub, caller, agent, { via, taken: [{ ids, announcedAt: now }] })
  try {
    if (route.wakes) await noteWoken(hub, caller, agent)
    const pointed = await pointTo(hub, agent, rows)
    return { ...pointed, putBack, confirm: () => confirm(hub, caller, agent, { session, ids }) }
  } catch (error) {
    await putBack()
    throw error
  }
}

interface GivenBack {
  readonly via: string
  readonly taken: readonly { readonly ids: readonly number[]; readonly announcedAt: number }[]
}

async function giveBack(hub: Hub, caller: Caller, agent: Agent, { via, taken }: GivenBack): Promise<void> {
  const returned = await commit(hub, caller, async (tx, note) => {
    let count = 0
    for (const one of taken) count += await updateReturned(tx, { ...one, mostTries })
    // Another route may wait for what is free again.
    if (count > 0) note({ kind: 'presence.changed', projectId: agent.projectId, wakes: [mailChannel(agent.id)] })
    return count
  })
  countPushes(hub, via, 'returned', returned)
}

async function confirm(
  hub: Hub,
  caller: Caller,
  { id: agentId }: Agent,
  of: { readonly session: string; readonly ids?: readonly number[] },
): Promise<void> {
  const now = hub.clock.now()
  const confirmed = await commit(hub, caller, (tx) => updateConfirmed(tx, { agentId, now, ...of }), unflushed)
  for (const via of confirmed) countPushes(hub, via, 'confirmed', 1)
}

/** A turn of the session began with the pointer that it was given: its messages are told. */
export async function confirmAnnounced(hub: Hub, acting: Acting, session: string): Promise<void> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (!isNewcomer(agent)) await confirm(hub, acting.caller, agent, { session })
}

/**
 * The client has taken the pointer of a waiter. `turnConfirms`: a turn of it begins with the pointer, and confirms it where the hooks of the
 * session work; a person has to trust them first.
 */
export async function noteAccepted(
  hub: Hub,
  acting: Acting,
  { turnConfirms, ...of }: ClientSession & { readonly turnConfirms: boolean },
): Promise<void> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (isNewcomer(agent) || (turnConfirms && (await isHeard(hub, { ...of, agentId: agent.id })))) return
  await confirm(hub, acting.caller, agent, of)
}

/** The client has not taken the pointer of a waiter: its messages are the next route's. */
export async function returnAnnounced(
  hub: Hub,
  acting: Acting,
  { client: via, session }: ClientSession,
): Promise<void> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (isNewcomer(agent)) return
  const rows = await listUnconfirmed(reader(hub), { agentId: agent.id, session, via })
  const taken = Map.groupBy(rows, ({ announced_at }) => announced_at)
  await giveBack(hub, acting.caller, agent, {
    via,
    taken: [...taken].map(([announcedAt, of]) => ({ announcedAt, ids: of.map(({ delivery_id: id }) => id) })),
  })
}

interface AwaitingMail extends Omit<Route, 'reminds' | 'wakes'> {
  /** When it began, where it has asked before: it does not displace a newer waiter of the session, and is the same one to other nodes. */
  readonly since?: number
  /** The client has begun the waiter because a turn of the session ended. */
  readonly turnEnded?: boolean
  readonly waitMs: number
  readonly signals: readonly AbortSignal[]
  /** Where somebody waits. */
  readonly door?: string | undefined
}

/**
 * Waits for mail to announce. `displaced`: a newer waiter of the session has come. It counts as one that wakes an idle client while it
 * waits, and writes nothing.
 */
export async function awaitMail(
  hub: Hub,
  acting: Acting,
  { waitMs, signals, door, since = Number.POSITIVE_INFINITY, turnEnded = false, ...route }: AwaitingMail,
): Promise<Pointer | 'displaced' | undefined> {
  needWriting(acting.caller)
  const agent = await findActor(hub, { ...acting, registered: true, unnoticed: true })
  if (isNewcomer(agent)) return undefined
  const ended = new AbortController()
  const leave = addWaiter(hub, {
    agentId: agent.id,
    session: route.session,
    via: route.via,
    since: Math.min(since, hub.clock.now()),
    displaced: () => ended.abort(),
  })
  const of = { client: route.via, session: route.session }
  // Once the older one is gone, which waited for this as well.
  if (turnEnded) stepOf(hub, agent, of, 'stop')
  // A waiter that came from nowhere else takes the place of the older one, which must not take mail with it.
  const over = [...signals, ended.signal]
  const waiting = {
    channel: mailChannel(agent.id),
    ms: waitMs,
    signals: over,
    door,
    waiter: agentWaiter(agent.id),
    standsIn: true,
  }
  try {
    const found = await wait<Pointer>(hub, waiting, async () => {
      if (over.some((signal) => signal.aborted)) return {}
      // The hooks of a running turn tell of it; when the turn ends, this waiter is woken.
      const held = heldUntil(hub, { agentId: agent.id, ...of })
      if (held !== undefined) return { again: held }
      const waking = { ...route, wakes: true }
      const pointer = await announceTo(hub, acting.caller, agent, waking)
      if (pointer !== undefined) return { found: pointer }
      const terms = await termsOf(hub, agent, waking)
      return { again: await findNextFree(reader(hub), { terms, confirmMs: hub.rules.waking.confirmMs }) }
    })
    return found ?? (ended.signal.aborted ? 'displaced' : undefined)
  } finally {
    leave()
  }
}
