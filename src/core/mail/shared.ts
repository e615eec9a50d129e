/** Shared mail: an agent that looks for mail takes what came for its role and nobody has taken, for a while or for good. */
import type { Tx } from '../../db/port.ts'
import { updateUnread } from '../../store/agents/agents.ts'
import {
  deleteSettledShares,
  findSharedRelease,
  hasLapsed,
  hasShared,
  listSharedWith,
  listSharers,
  listWornShared,
  lockLapsed,
  lockSharedWith,
  releaseShared,
  type SharedRow,
  updateShared,
} from '../../store/mail/shared.ts'
import type { Caller } from '../access/callers.ts'
import { countsAsActive } from '../access/rules.ts'
import { type Agent, mailChannel } from '../agents/agents.ts'
import { commit, itself, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { keepLooking } from '../hub/keep-looking.ts'
import { ranked } from '../messages/groups.ts'
import { sharedSeen } from '../messages/sharing.ts'
import { attemptsOf, bury } from './dead-letters.ts'

/**
 *   offered  ── its agent, or another candidate, fetches it ──▶ held by that one
 *   offered, held  ── popped, or marked as read ──▶ settled
 *   offered for the first time, held  ── nothing for ten minutes ──▶ offered to the next one
 *   held     ── for the fifth time, and nothing ──▶ dead
 */
export const heldMs = 600_000

/** A process that has seen no shared mail looks again after this long: those who never use it pay nothing. */
const lookEveryMs = 1000

const mostTaken = 20

/** False nearly always, and without a query. */
async function mayBeShared(hub: Hub): Promise<boolean> {
  const seen = sharedSeen(hub)
  const now = hub.clock.now()
  if (seen.any || now - seen.at < lookEveryMs) return seen.any
  seen.at = now
  seen.any = await hasShared(reader(hub))
  return seen.any
}

interface Looking {
  readonly caller: Caller
  readonly agent: Agent
}

/** For an inbox that is read: what it takes is held, so that nobody else is given it. Returns the ids of those messages. */
export async function holdShared(hub: Hub, looking: Looking): Promise<readonly number[]> {
  return mayTake(looking) && (await mayBeShared(hub)) ? takeShared(hub, looking, { heldMs, limit: mostTaken }) : []
}

/** For a mailbox that is taken from: the oldest comes into it. */
export async function fetchShared(hub: Hub, looking: Looking): Promise<boolean> {
  return (await mayBeShared(hub)) && (await takeShared(hub, looking, { heldMs: 0, limit: 1 })).length > 0
}

/** Somebody who only looks takes nothing away from others. */
export const mayTake = ({ caller }: Looking): boolean => caller.readOnly !== true && countsAsActive(caller)

async function takeShared(
  hub: Hub,
  { caller, agent }: Looking,
  { heldMs, limit }: { heldMs: number; limit: number },
): Promise<readonly number[]> {
  const now = hub.clock.now()
  const query = { agentId: agent.id, now, limit }
  const found = await listSharedWith(reader(hub), query)
  // One that is in the agent's own mailbox already is taken from there.
  if (found.every(({ recipient_id }) => heldMs === 0 && recipient_id === agent.id)) return []
  const heldUntil = heldMs === 0 ? null : now + heldMs
  return commit(hub, caller, async (tx, note) => {
    await deleteSettledShares(tx, agent.id)
    const rows = await lockSharedWith(tx, query)
    for (const row of rows)
      await updateShared(tx, row, { agentId: agent.id, hold: heldMs === 0 ? null : hub.ids.token(), heldUntil })
    passOn(tx, note, { rows, to: agent, wakes: [] })
    return rows.map(({ message_id }) => message_id)
  })
}

/** Unread mail is counted where it lies. Rows of agents are written in one order: two who exchange mail would else wait for each other. */
function passOn(
  tx: Tx,
  note: Note,
  { rows, to, wakes }: { rows: readonly SharedRow[]; to: Pick<Agent, 'id' | 'projectId'>; wakes: readonly string[] },
): void {
  const moved = rows.filter(({ recipient_id }) => recipient_id !== to.id)
  const counts = new Map<number, number>()
  for (const { recipient_id: from } of moved)
    for (const [id, by] of [
      [from, -1],
      [to.id, 1],
    ] as const)
      counts.set(id, (counts.get(id) ?? 0) + by)
  for (const [id, by] of [...counts].sort(([a], [b]) => a - b)) updateUnread(tx, id, by)
  for (const { thread_id: threadId, message_id: messageId, recipient_id: agentId } of moved)
    note({ kind: 'message.passed', projectId: to.projectId, agentId, threadId, messageId, wakes })
}

/** When shared mail of an agent comes back, for one who waits. */
export const nextShared = async (hub: Hub, agentId: number): Promise<number | undefined> =>
  (await mayBeShared(hub)) ? findSharedRelease(reader(hub), agentId, hub.clock.now()) : undefined

/** Messages that an answer had no room for: others may take them. */
export async function giveBack(hub: Hub, { caller, agent }: Looking, messageIds: readonly number[]): Promise<void> {
  if (messageIds.length > 0) await commit(hub, caller, (tx) => releaseShared(tx, agent.id, messageIds))
}

const rowsPerCommit = 20

/** Offers mail whose holder has let the time pass to the next candidate, who is woken. Nearly always a look finds none. */
export async function offerLapsed(hub: Hub): Promise<void> {
  const lapsing = () => ({ now: hub.clock.now(), offeredBefore: hub.clock.now() - heldMs })
  const attempts = attemptsOf(hub)
  for (const worn of await listWornShared(reader(hub), { ...lapsing(), attempts }))
    await bury(hub, worn.message_id, { recipientId: worn.recipient_id, attempts })
  while (await hasLapsed(reader(hub), lapsing()))
    await commit(hub, itself, async (tx, note) => {
      for (const row of await lockLapsed(tx, { ...lapsing(), limit: rowsPerCommit })) {
        const others = (await listSharers(tx, row.id)).filter((id) => id !== row.recipient_id)
        const [next = row.recipient_id] = await ranked(hub, others)
        await updateShared(tx, row, { agentId: next, hold: null, heldUntil: null })
        const to = { id: next, projectId: row.project_id }
        passOn(tx, note, { rows: [row], to, wakes: [mailChannel(next)] })
      }
    })
}

const offerEveryMs = 30_000

/** Any process may do it, and several at once: a message is locked while it moves. */
export function keepOffering(hub: Hub): () => Promise<void> {
  const { stop } = keepLooking(hub, {
    gatherMs: 0,
    firstMs: offerEveryMs,
    backOff: { firstMs: offerEveryMs, longestMs: offerEveryMs, wakesShorten: false },
    failure: 'shared mail that came back is not offered to others; it is tried again',
    look: async () => {
      if (await mayBeShared(hub)) await offerLapsed(hub)
      return { inMs: offerEveryMs }
    },
  })
  return stop
}
