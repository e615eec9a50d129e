/** Taking mail: the oldest unread message, popped at once or lent for a while; acknowledging it; putting it back. */
import { HubError } from '../../base/errors.ts'
import { inSpan, isTracing, noteAgent } from '../../base/tracing.ts'
import type { Tx } from '../../db/port.ts'
import { updateUnread } from '../../store/agents/agents.ts'
import {
  type Taking as DeliveryTaking,
  findNextRelease,
  type HoldRow,
  hasFreeDelivery,
  listDeliveriesCalled,
  type MailRow,
  takeDelivery,
  updateRead,
  updateReturned,
} from '../../store/messages/deliveries.ts'
import { type BatchedTaken, type BatchedTaking, takeDeliveryBatch } from '../../store/messages/take-batches.ts'
import type { Caller } from '../access/callers.ts'
import { mayActAs, needWriting } from '../access/rules.ts'
import { type Acting, actAs, findActor, notYours } from '../agents/acting.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import { type Trust, trustOf } from '../contacts/trust.ts'
import { runBatched, type Unit } from '../hub/batching.ts'
import { commit, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { wait } from '../hub/wait.ts'
import { agentWaiter } from '../hub/waits.ts'
import { linkSenders } from '../messages/traces.ts'
import { buryWorn } from './dead-letters.ts'
import { isLoanOf, loanOf } from './loans.ts'
import { fetchShared, nextShared } from './shared.ts'
import { takeAgain } from './take-again.ts'

export interface Mail {
  /** The sender's own id; the uid of the message where it gave none. */
  readonly clientId: string
  readonly from: string
  /** The standing of its sender with the agent. */
  readonly trust: Trust
  readonly body: string
  readonly createdAt: number
  /** Of a message that came by the mail door. */
  readonly subject: string | undefined
  readonly importance: MailRow['importance']
  readonly ackRequired: boolean
  /** Proves that a message was lent to its bearer; absent when it was popped. */
  readonly loan: string | undefined
}

interface Taking {
  /** 0 pops the message for good; more lends it for that long. */
  readonly loanMs: number
  readonly waitMs: number
  /** The message handled last, by its client id: if it was lent, it counts as acknowledged. */
  readonly after?: string | undefined
  readonly signals: readonly AbortSignal[]
  readonly door?: string | undefined
}

export interface Taken {
  readonly mail: Mail
  /** Puts the message back at the head of the mailbox; for answers that never reached their client. */
  putBack(): Promise<void>
}

/** Agents that were given mail when they last asked. A guess that only saves work. */
const mailLikely = memory(() => new Set<number>())

export const take = (hub: Hub, acting: Acting, taking: Taking): Promise<Taken | undefined> =>
  inSpan('take', () => takeNow(hub, acting, taking))

async function takeNow(hub: Hub, acting: Acting, taking: Taking): Promise<Taken | undefined> {
  const { loanMs, waitMs, after, signals, door } = taking
  // An empty mailbox is refused too: nothing would be written for it.
  needWriting(acting.caller)
  const agent = await actAs(hub, acting)
  noteAgent(agent)
  if (after !== undefined)
    await settle(
      hub,
      acting.caller,
      { agent, clientId: after },
      {
        chosen: (row) => row.read_at === null && row.hold !== null,
      },
    )
  const waiting = {
    channel: mailChannel(agent.id),
    ms: waitMs,
    competing: true,
    signals,
    door,
    waiter: agentWaiter(agent.id),
  }
  return wait(hub, waiting, async (uncommitted) => {
    // A client that is gone takes nothing with it.
    if (signals.some((signal) => signal.aborted)) return {}
    if (hub.limits.mailboxAttempts > 0) await buryWorn(hub, agent, hub.limits.mailboxAttempts)
    // After mail more mail is likely. All others look first: an empty mailbox then costs no lock.
    const likely = uncommitted || mailLikely(hub).has(agent.id)
    if (likely || (await hasFreeDelivery(reader(hub), agent.id, hub.clock.now()))) {
      const taken = await takeNext(hub, acting.caller, agent, loanMs)
      if (taken !== undefined) {
        mailLikely(hub).add(agent.id)
        return { found: taken }
      }
      mailLikely(hub).delete(agent.id)
      // A message was there, but another node has locked it, and may let go of it without a wake-up.
      if (!likely) return { again: hub.clock.now() + lookAgainMs }
    }
    if (await fetchShared(hub, { caller: acting.caller, agent })) {
      const taken = await takeNext(hub, acting.caller, agent, loanMs)
      if (taken !== undefined) return { found: taken }
    }
    return { again: waitMs > 0 ? await nextRelease(hub, agent.id) : undefined }
  })
}

const lookAgainMs = 50

/** When mail of the agent, or of its role, comes back. */
async function nextRelease(hub: Hub, agentId: number): Promise<number | undefined> {
  const times = [await findNextRelease(reader(hub), agentId, hub.clock.now()), await nextShared(hub, agentId)]
  return times.filter((at) => at !== undefined).sort((a, b) => a - b)[0]
}

async function takeNext(hub: Hub, caller: Caller, agent: Agent, loanMs: number): Promise<Taken | undefined> {
  const now = hub.clock.now()
  const lent = loanMs > 0
  const taking = { recipientId: agent.id, now, hold: hub.ids.token(), heldUntil: lent ? now + loanMs : undefined }
  const { hold } = taking
  const row = await takeBatched(hub, caller, agent, taking)
  if (row === undefined) return undefined
  if (isTracing()) await linkSenders(hub, [row.message_id])
  hub.metrics.mailLatency.observe(Math.max(0, now - row.created_at) / 1000)
  return {
    mail: mailOf(row, lent ? loanOf(row.delivery_id, hold) : undefined, agent.projectId),
    putBack: () => putBack(hub, caller, { agent, row, hold, readAt: lent ? undefined : now }),
  }
}

/** `home` is the project of the agent that took it. */
export const mailOf = (row: MailRow, loan: string | undefined, home: number): Mail => ({
  clientId: row.client_id ?? row.uid,
  from: row.sender,
  trust: trustOf(row, home),
  body: row.body,
  createdAt: row.created_at,
  subject: row.subject ?? undefined,
  importance: row.importance,
  ackRequired: row.ack_required === 1,
  loan,
})

const takeIn = (caller: Caller, agent: Agent, taking: DeliveryTaking) => async (tx: Tx, note: Note) => {
  const row = await takeDelivery(tx, taking)
  if (row === undefined) return undefined
  // Asked in the transaction: the agent may have been given a key while its mail was waited for.
  if (!mayActAs(caller, { ...agent, keyed: row.keyed === 1 })) throw notYours(caller, agent)
  if (taking.heldUntil === undefined) updateUnread(tx, agent.id, -1)
  note(changeOf(agent, taking, row))
  return row
}

const changeOf = ({ projectId, id }: Pick<Agent, 'projectId' | 'id'>, { heldUntil }: DeliveryTaking, row: MailRow) =>
  ({
    kind: heldUntil === undefined ? 'mail.taken' : 'mail.lent',
    projectId,
    agentId: id,
    messageId: row.message_id,
  }) as const

async function takeBatch(
  tx: Tx,
  note: Note,
  units: readonly (BatchedTaking & Unit)[],
): Promise<(BatchedTaken | undefined)[]> {
  const all = await takeDeliveryBatch(tx, units)
  for (const [n, taking] of units.entries()) {
    const row = all[n]?.row
    const agent = { id: taking.recipientId, projectId: taking.projectId }
    if (row !== undefined) note(changeOf(agent, taking, row), 'recorded')
  }
  return all
}

async function takeBatched(
  hub: Hub,
  caller: Caller,
  agent: Agent,
  taking: DeliveryTaking,
): Promise<MailRow | undefined> {
  const take = takeIn(caller, agent, taking)
  const fallback = async () => ({ keyed: false, row: await commit(hub, caller, take) })
  const again = async (unsure: unknown) => ({
    keyed: false,
    row: await takeAgain(hub, caller, { taking, unsure, take }),
  })
  const ofKeyed = mayActAs(caller, { ...agent, keyed: true })
  const { id, projectId } = agent
  const unit = { ...taking, ofKeyed, actor: caller.key, projectId, rows: [], ownRows: [mailChannel(id)] }
  const taken = await (caller.readOnly ? fallback() : runBatched(hub, takeBatch, unit, fallback)).catch(again)
  if (taken?.keyed && !ofKeyed) throw notYours(caller, agent)
  return taken?.row
}

async function putBack(
  hub: Hub,
  caller: Caller,
  { agent, row, hold, readAt }: { agent: Agent; row: MailRow; hold: string; readAt: number | undefined },
): Promise<void> {
  await commit(hub, caller, async (tx, note) => {
    if (!(await updateReturned(tx, { id: row.delivery_id, hold, readAt }))) return
    if (readAt !== undefined) updateUnread(tx, agent.id, 1)
    note({
      kind: 'mail.returned',
      projectId: agent.projectId,
      agentId: agent.id,
      messageId: row.message_id,
      wakes: [mailChannel(agent.id)],
    })
  })
}

/** Acknowledges a lent message; may be repeated, and come late, as long as nobody else was given the message. */
export async function acknowledge(
  hub: Hub,
  acting: Acting,
  { clientId, loan }: { clientId: string; loan: string },
): Promise<void> {
  const agent = await findActor(hub, acting)
  // A new agent has no mail yet, and is not made for being told so.
  const outcome = isNewcomer(agent)
    ? 'unknown'
    : await settle(
        hub,
        acting.caller,
        { agent, clientId },
        {
          chosen: ({ id, hold }) => hold !== null && (loanOf(id, hold) === loan || hold === loan),
          given: ({ id }) => isLoanOf(id, loan),
        },
      )
  if (outcome === 'unknown')
    throw new HubError('MESSAGE_NOT_FOUND', `${agent.name} has no message with the id ${JSON.stringify(clientId)}.`, {
      hint: 'Pass the id and the proof of the loan exactly as they came with the message, at the same agent.',
    })
  if (outcome === 'never lent')
    throw new HubError(
      'INVALID_ARGUMENT',
      `${JSON.stringify(loan)} is not a lease of message ${JSON.stringify(clientId)}.`,
      { hint: 'Pass the id and the lease exactly as they came with the message.' },
    )
  if (outcome === 'moved on')
    throw new HubError(
      'LEASE_EXPIRED',
      `Message ${JSON.stringify(clientId)} was not acknowledged in time and was given out again.`,
      { hint: 'Take mail again: the message comes with a new lease, unless somebody else has handled it.' },
    )
}

/**
 * Marks as read the delivery that goes by `clientId` and that `chosen` picks. Only the loan proves that an agent holds a
 * message; naming it in `after` settles it as well, for a loan only has to ensure that it was handled.
 */
async function settle(
  hub: Hub,
  caller: Caller,
  { agent, clientId }: { agent: Agent; clientId: string },
  { chosen, given = () => true }: { chosen: (row: HoldRow) => boolean; given?: (row: HoldRow) => boolean },
) {
  const rows = await listDeliveriesCalled(reader(hub), agent.id, clientId)
  const row = rows.findLast(chosen)
  if (row === undefined || row.hold === null)
    return rows.length === 0 ? 'unknown' : rows.some(given) ? 'moved on' : 'never lent'
  if (row.read_at !== null) return 'settled'
  const { id: deliveryId, hold, message_id: messageId } = row
  return commit(
    hub,
    caller,
    async (tx, note) => {
      const before = await updateRead(tx, { id: deliveryId, hold, now: hub.clock.now() })
      if (before === 'moved on') return 'moved on'
      if (before === 'unread') {
        updateUnread(tx, agent.id, -1)
        note({ kind: 'mail.acknowledged', projectId: agent.projectId, agentId: agent.id, messageId })
      }
      return 'settled'
    },
    { idempotent: true },
  )
}
