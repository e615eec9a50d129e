/** Watching an agent: each message, request and approval that comes for it is told, whichever process committed it. */
import { limits } from '../../base/limits.ts'
import { firstLine } from '../../base/text.ts'
import { inRoot, isTracing, ofAgent } from '../../base/tracing.ts'
import { listAskedBy, listPendingTo } from '../../store/contacts/connections.ts'
import { findNewestOf, listArrivals } from '../../store/mail/arrivals.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, contactChannel, keyChannel, mailChannel } from '../agents/agents.ts'
import type { Connection } from '../contact-requests/codes.ts'
import { type PendingConnection, toPending } from '../contact-requests/pending.ts'
import { type Hub, onWake, reader } from '../hub/hub.ts'
import { keepLooking, type Loop, type Next } from '../hub/keep-looking.ts'
import { memory } from '../hub/memory.ts'
import { publicIds } from '../hub/public-ids.ts'
import { beginStream } from '../hub/waits.ts'
import { addressFrom } from '../messages/addresses.ts'
import { linkSenders } from '../messages/traces.ts'

export interface Arrival {
  readonly uid: string
  readonly threadUid: string
  readonly subject: string
  readonly from: string
  readonly body: string
  readonly createdAt: number
  readonly automatic: boolean
}

/** One who watches an agent. It must not throw. */
export interface ArrivalListener {
  arrived(mail: Arrival): void
  asked(request: PendingConnection): void
  approved(connection: Connection): void
  /** The keys of the agent have changed: it may have to be asked again whether this one is still good. */
  keysChanged(): void
}

interface FollowedAgent {
  readonly agent: Agent
  readonly listeners: Set<ArrivalListener>
  /** Settled once it is known what there was before. */
  ready: Promise<void>
  /** The newest message that was told. */
  seen: number
  /** Requests to the agent by their last change, and whether its own were approved. */
  pending: ReadonlyMap<number, number>
  approved: ReadonlySet<number>
  /** The parts to look at. */
  due: Due
  /** While there are any: an idle socket has none. */
  loop: Loop | undefined
}

type Part = 'mail' | 'contact'

type Due = 'nothing' | Part | 'both'

/** Shared by all that are followed: with sets and maps of their own, idle sockets took 0.6 KB more each. */
const none: { readonly pending: ReadonlyMap<number, number>; readonly approved: ReadonlySet<number> } = {
  pending: new Map(),
  approved: new Set(),
}

/** The agents followed in this process, by id; and how to stop listening for them. */
const followed = memory(() => ({
  agents: new Map<number, FollowedAgent>(),
  unlisten: undefined as (() => void) | undefined,
}))

/** Resolves once everything that is committed from then on will be told; the returned function ends it. */
export async function followArrivals(hub: Hub, acting: Acting, listener: ArrivalListener): Promise<() => void> {
  const agent = await actAs(hub, acting)
  const state = followed(hub)
  const kept = state.agents.get(agent.id) ?? begin(hub, agent)
  kept.listeners.add(listener)
  const endStream = beginStream(hub, agent.id)
  const end = () => {
    if (kept.listeners.delete(listener)) endStream()
    if (kept.listeners.size > 0 || state.agents.get(agent.id) !== kept) return
    state.agents.delete(agent.id)
    if (state.agents.size > 0) return
    state.unlisten?.()
    state.unlisten = undefined
  }
  try {
    await kept.ready
    return end
  } catch (error) {
    end()
    throw error
  }
}

function begin(hub: Hub, agent: Agent): FollowedAgent {
  const state = followed(hub)
  const one: FollowedAgent = {
    agent,
    listeners: new Set(),
    ready: Promise.resolve(),
    seen: 0,
    ...none,
    due: 'nothing',
    loop: undefined,
  }
  state.agents.set(agent.id, one)
  // Listen before asking: what is committed in between is then not missed.
  state.unlisten ??= listen(hub)
  one.ready = lookFirst(hub, one)
  return one
}

async function lookFirst(hub: Hub, one: FollowedAgent): Promise<void> {
  one.seen = await findNewestOf(reader(hub), one.agent.id)
  const { pending, asked } = await listConnections(hub, one.agent)
  remember(one, pending, asked)
}

function listen(hub: Hub): () => void {
  const { agents } = followed(hub)
  const prefixes = { mail: mailChannel, contact: contactChannel, key: keyChannel }
  const ends = Object.entries(prefixes).map(([name, channelOf]) => {
    const prefix = channelOf(0).slice(0, -1)
    const tell = (one: FollowedAgent) => {
      if (name === 'key') for (const listener of one.listeners) listener.keysChanged()
      else lookSoon(hub, one, name as Part)
    }
    const wake = (channel: string) => {
      const one = agents.get(Number(channel.slice(prefix.length)))
      if (one !== undefined) tell(one)
    }
    return onWake(hub, prefix, wake, () => agents.forEach(tell))
  })
  return () => {
    for (const end of ends) end()
  }
}

function lookSoon(hub: Hub, one: FollowedAgent, part: Part): void {
  one.due = one.due === 'nothing' || one.due === part ? part : 'both'
  one.loop ??= keepLooking(hub, {
    gatherMs: 0,
    backOff: { firstMs: retryMs, longestMs: retryMs, wakesShorten: false },
    failure: 'mail for a connected agent could not be read; it is tried again',
    look: () => look(hub, one),
  })
  one.loop.wake()
}

const retryMs = 1000

/** One look at a time: what is told stays in order, and many wakes at once cost one look. */
async function look(hub: Hub, one: FollowedAgent): Promise<Next> {
  // Without a beginning nobody watches, and every message would seem new.
  const begun = await one.ready.then(
    () => true,
    () => false,
  )
  while (begun && one.due !== 'nothing' && one.listeners.size > 0) {
    const { due } = one
    one.due = 'nothing'
    try {
      if (due !== 'contact') await tellMail(hub, one)
      if (due !== 'mail') await tellContacts(hub, one)
    } catch (error) {
      one.due = 'both'
      throw error
    }
  }
  one.loop = undefined
  return 'over'
}

const perLook = 100

async function tellMail(hub: Hub, one: FollowedAgent): Promise<void> {
  for (;;) {
    const query = { recipientId: one.agent.id, after: one.seen, limit: perLook }
    const rows = await listArrivals(reader(hub), query)
    if (isTracing() && rows.length > 0)
      await inRoot(
        'push',
        () =>
          linkSenders(
            hub,
            rows.map(({ id }) => id),
          ),
        ofAgent(one.agent),
      )
    for (const row of rows) {
      one.seen = row.id
      if (row.notice === 1) continue
      const from = await addressFrom(hub, one.agent, { name: row.sender, projectId: row.sender_project })
      const arrival = {
        uid: row.uid,
        threadUid: row.thread_uid,
        subject: firstLine(row.subject),
        from,
        body: row.body,
        createdAt: row.created_at,
        automatic: row.automatic === 1,
      }
      for (const listener of one.listeners) listener.arrived(arrival)
    }
    if (rows.length < perLook) return
  }
}

async function tellContacts(hub: Hub, one: FollowedAgent): Promise<void> {
  const idOf = await publicIds(hub)
  const { pending, asked } = await listConnections(hub, one.agent)
  for (const row of pending) {
    if (one.pending.get(row.id) === row.updated_at) continue
    const request = await toPending(hub, one.agent, row, idOf('contact', row.id))
    for (const listener of one.listeners) listener.asked(request)
  }
  for (const { id, to_name: name, to_project: projectId } of asked.filter(isApproved)) {
    if (one.approved.has(id)) continue
    const other = await addressFrom(hub, one.agent, { name, projectId })
    for (const listener of one.listeners) listener.approved({ id: idOf('contact', id), other })
  }
  remember(one, pending, asked)
}

const isApproved = ({ status }: { status: string }): boolean => status === 'approved'

function remember(
  one: FollowedAgent,
  pending: readonly { id: number; updated_at: number }[],
  asked: readonly { id: number; status: string }[],
): void {
  const approved = asked.filter(isApproved)
  one.pending = pending.length === 0 ? none.pending : new Map(pending.map(({ id, updated_at }) => [id, updated_at]))
  one.approved = approved.length === 0 ? none.approved : new Set(approved.map(({ id }) => id))
}

async function listConnections(hub: Hub, { id }: Agent) {
  const pending = await listPendingTo(reader(hub), { toId: id, now: hub.clock.now(), limit: limits.listed })
  return { pending, asked: await listAskedBy(reader(hub), id, limits.listed) }
}
