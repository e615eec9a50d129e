/** Runs: a program starts a fresh agent for mail, which is lent to it until the command ends. */
import { updateUnread } from '../../store/agents/agents.ts'
import { listAnnounced } from '../../store/mail/announcements.ts'
import { borrowThread, listOfRun, updateLoanEnd, updateRunEnded } from '../../store/mail/runs.ts'
import { findNextRelease, hasFreeDelivery } from '../../store/messages/deliveries.ts'
import type { Caller } from '../access/callers.ts'
import { needWriting } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, mailChannel } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { wait } from '../hub/wait.ts'
import { agentWaiter } from '../hub/waits.ts'
import { attemptsOf, buryWorn } from '../mail/dead-letters.ts'
import { deliveredMarked } from '../mail/delivered.ts'
import { holdOf } from '../mail/run-mail.ts'
import { heldWakes, noteWoken } from '../messages/loops.ts'
import { type Pointed, pointTo } from './pointer.ts'
import { addWaiter } from './presence.ts'

/** The program renews the loan while its command runs. If it is killed, the mail comes back after this long. */
export const runLoanMs = 60_000

/** A run takes this many messages of a thread; those behind are the next one's. */
const mostOfRun = 50

export interface Run extends Pointed {
  putBack(): Promise<void>
  /** By it the agent of the run is handed its mail, and the program ends the loan. */
  readonly run: string
}

interface AwaitingRun {
  readonly waitMs: number
  readonly signals: readonly AbortSignal[]
  /** Where somebody waits. */
  readonly door?: string | undefined
  /** Tells programs apart that wait for the same agent. */
  readonly session: string
}

/**
 *   free  ── borrowed ──▶ lent  ── handed out, and the command ended with 0 ──▶ read
 *   lent  ── it ended otherwise, was not handed it, or nothing renews the loan ──▶ free; after five times ──▶ dead
 *
 * While it waits, the agent counts as one whose idle client will be woken.
 */
export async function borrowMail(
  hub: Hub,
  acting: Acting,
  { waitMs, signals, door, session }: AwaitingRun,
): Promise<Run | undefined> {
  needWriting(acting.caller)
  const agent = await actAs(hub, { ...acting, unnoticed: true })
  const leave = addWaiter(hub, { agentId: agent.id, session, via: 'run', since: hub.clock.now(), displaced: () => {} })
  const waiter = agentWaiter(agent.id)
  try {
    return await wait(
      hub,
      { channel: mailChannel(agent.id), ms: waitMs, competing: true, signals, door, waiter, standsIn: true },
      async () => {
        if (signals.some((signal) => signal.aborted)) return {}
        await buryWorn(hub, agent, attemptsOf(hub))
        const free = await hasFreeDelivery(reader(hub), agent.id, hub.clock.now())
        const found = free ? await borrow(hub, acting.caller, agent) : undefined
        return found === undefined
          ? { again: await findNextRelease(reader(hub), agent.id, hub.clock.now()) }
          : { found }
      },
    )
  } finally {
    leave()
  }
}

async function borrow(hub: Hub, caller: Caller, agent: Agent): Promise<Run | undefined> {
  const run = hub.ids.token()
  const now = hub.clock.now()
  const terms = { now, hold: holdOf(run), heldUntil: now + runLoanMs, limit: mostOfRun }
  const lending = { recipientId: agent.id, ...terms, held: await heldWakes(hub, agent.id) }
  const rows = await commit(hub, caller, async (tx, note) => {
    const ids = await borrowThread(tx, lending)
    const rows = ids.length === 0 ? [] : await listAnnounced(tx, ids)
    for (const { message_id: messageId } of rows)
      note({ kind: 'mail.lent', projectId: agent.projectId, agentId: agent.id, messageId })
    return rows
  })
  if (rows.length === 0) return undefined
  const putBack = async () => {
    await giveBack(hub, caller, agent, { run, undo: true })
  }
  try {
    await noteWoken(hub, caller, agent)
    return { run, ...(await pointTo(hub, agent, rows)), putBack }
  } catch (error) {
    await putBack()
    throw error
  }
}

/** Returns how many messages the run still holds. */
export async function renewRun(hub: Hub, acting: Acting, run: string): Promise<number> {
  needWriting(acting.caller)
  const agent = await actAs(hub, { ...acting, unnoticed: true })
  const hold = holdOf(run)
  const ids = (await listOfRun(reader(hub), agent.id, hold)).map(({ id }) => id)
  if (ids.length === 0) return 0
  const heldUntil = hub.clock.now() + runLoanMs
  return commit(hub, acting.caller, (tx) => updateLoanEnd(tx, { ids, hold, heldUntil }), { repeatable: true })
}

/** The command ended. Handled, the mail that was handed out is read; else, and the rest, it is back in the mailbox. Returns how many messages that concerns. */
export async function endRun(
  hub: Hub,
  acting: Acting,
  { run, handled }: { readonly run: string; readonly handled: boolean },
): Promise<number> {
  needWriting(acting.caller)
  const agent = await actAs(hub, { ...acting, unnoticed: true })
  const read = handled ? await readHandedOut(hub, acting.caller, agent, run) : 0
  const returned = await giveBack(hub, acting.caller, agent, { run })
  if (returned > 0) await buryWorn(hub, agent, attemptsOf(hub))
  return handled ? read : returned
}

async function readHandedOut(hub: Hub, caller: Caller, agent: Agent, run: string): Promise<number> {
  // Mail of the last answer is marked behind it.
  await deliveredMarked(hub, agent.id)
  const hold = holdOf(run)
  const ids = (await listOfRun(reader(hub), agent.id, hold)).map(({ id }) => id)
  if (ids.length === 0) return 0
  return commit(hub, caller, async (tx, note) => {
    const read = await updateRunEnded(tx, { ids, hold, readAt: hub.clock.now() })
    if (read.length > 0) updateUnread(tx, agent.id, -read.length)
    for (const messageId of read)
      note({ kind: 'mail.acknowledged', projectId: agent.projectId, agentId: agent.id, messageId })
    return read.length
  })
}

async function giveBack(
  hub: Hub,
  caller: Caller,
  { id: agentId, projectId }: Agent,
  { run, undo = false }: { run: string; undo?: boolean },
): Promise<number> {
  const hold = holdOf(run)
  const ids = (await listOfRun(reader(hub), agentId, hold)).map(({ id }) => id)
  if (ids.length === 0) return 0
  return commit(hub, caller, async (tx, note) => {
    const back = await updateRunEnded(tx, { ids, hold, undo })
    const wakes = [mailChannel(agentId)]
    for (const messageId of back) note({ kind: 'mail.returned', projectId, agentId, messageId, wakes })
    return back.length
  })
}
