/** Announcing mail: an agent that cannot know of a message yet is told of it once, by the route that comes first. */

import {
  type AnnounceTerms,
  claimAnnouncements,
  deleteAnnouncements,
  deleteSettled,
  findUnconfirmed,
  hasUnannounced,
  listAnnounced,
  updateConfirmed,
  updateOffered,
} from '../../store/mail/announcements.ts'
import type { Caller } from '../access/callers.ts'
import { needWriting } from '../access/rules.ts'
import { type Acting, findActor } from '../agents/acting.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { agentWaiter } from '../hub/waits.ts'
import { heldWakes, notePrompted, noteWoken } from '../messages/loops.ts'
import { type Pointer, pointTo } from './pointer.ts'
import { addWaiter, hasWaiter } from './presence.ts'
import { heldUntil, isHeard, stepOf } from './sessions.ts'

/**
 *   free       ── a route takes it ──▶ announced
 *   announced  ── a turn begins with the pointer, or the route's answer confirms it ──▶ confirmed
 *   announced  ── nothing for confirmMs ──▶ free, three times at most
 *   confirmed, or announced for the third time
 *              ── still unread after remindMs, and a turn begins ──▶ confirmed, for good
 *   any        ── read, or its text given out ──▶ gone
 */
const mostTries = 3

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
  /**
   * Its acceptance is all the proof there will be: the answer to a hook of a turn, a client that can confirm nothing. `unheard`: that
   * holds where no hook of the session was heard, because a person has to trust them first.
   */
  readonly confirms: boolean | 'unheard'
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
  const pointer = await announceTo(hub, acting.caller, agent, route)
  if (pointer !== undefined && route.wakes) await noteWoken(hub, acting.caller, agent)
  return pointer
}

/** A prompt that is no pointer came to a session of the agent: a person leads it again (waking.loop.counts). */
export async function notePrompt(hub: Hub, acting: Acting): Promise<void> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (!isNewcomer(agent)) await notePrompted(hub, acting.caller, agent)
}

async function announceTo(hub: Hub, caller: Caller, agent: Agent, route: Route): Promise<Pointer | undefined> {
  const now = hub.clock.now()
  const { confirmMs, remindMs } = hub.rules.waking
  const terms: AnnounceTerms = {
    agentId: agent.id,
    now,
    unconfirmedBefore: now - confirmMs,
    confirmedBefore: route.reminds ? now - remindMs : 0,
    mostTries,
    held: await heldWakes(hub, agent.id),
  }
  if (!(await hasUnannounced(reader(hub), terms))) return undefined
  const { via, session, confirms } = route
  const confirmed =
    confirms === 'unheard' ? !(await isHeard(hub, { agentId: agent.id, client: via, session })) : confirms
  const { ids, rows } = await commit(
    hub,
    caller,
    async (tx) => {
      const claimed = await claimAnnouncements(tx, { ...terms, via, session, confirmed, limit: mostNamed })
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
  return {
    ...(await pointTo(hub, agent, rows)),
    async putBack() {
      await commit(hub, caller, async (tx, note) => {
        await deleteAnnouncements(tx, ids, now)
        // Another route may wait for what is free again.
        note({ kind: 'presence.changed', projectId: agent.projectId, wakes: [mailChannel(agent.id)] })
      })
      countPushes(hub, via, 'returned', ids.length)
    },
  }
}

/** A turn of the session began with the pointer that it was given: its messages are told. */
export async function confirmAnnounced(hub: Hub, acting: Acting, session: string): Promise<void> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (isNewcomer(agent)) return
  const now = hub.clock.now()
  const confirmed = await commit(
    hub,
    acting.caller,
    (tx) => updateConfirmed(tx, { agentId: agent.id, session, now }),
    unflushed,
  )
  for (const via of confirmed) countPushes(hub, via, 'confirmed', 1)
}

interface AwaitingMail extends Omit<Route, 'reminds'> {
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
      const pointer = await announceTo(hub, acting.caller, agent, route)
      if (pointer !== undefined) {
        await noteWoken(hub, acting.caller, agent)
        return { found: pointer }
      }
      const at = await findUnconfirmed(reader(hub), { agentId: agent.id, mostTries })
      return { again: at === undefined ? undefined : at + hub.rules.waking.confirmMs }
    })
    return found ?? (ended.signal.aborted ? 'displaced' : undefined)
  } finally {
    leave()
  }
}
