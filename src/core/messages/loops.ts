/** The loop guard: agents that only answer each other's wakes are not woken any more, until a person says otherwise. Mail goes on. */
import { isReserved } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import type { HeldWakes } from '../../store/mail/announcements.ts'
import {
  countPair,
  deleteWoken,
  listPausedPairs,
  listPausedThreads,
  listUnreadOf,
  listWoken,
  pausePair,
  resumePairsOf,
  resumeThread,
  updateHops,
  upsertPausedThread,
  upsertWoken,
} from '../../store/messages/loops.ts'
import type { Caller } from '../access/callers.ts'
import type { Agent, Newcomer } from '../agents/agents.ts'
import { isNewcomer, mailChannel } from '../agents/agents.ts'
import { commit, type Note } from '../hub/commit.ts'
import { type Hub, onWake, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { putNotice } from './notices.ts'

/** The channel on which processes tell each other that an agent was woken, or a pause began or ended. */
const loopsChannel = 'loops'

const pairKey = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`)

interface Guard {
  /** Since when each agent counts as woken. */
  woken: ReadonlyMap<number, number>
  threads: Set<number>
  pairs: Set<string>
  /** How many changes this process has heard of, and how many it had when it last looked. */
  heard: number
  seen: number
  /** Whether other processes wake this one for a change; one that they do not looks again after a while. */
  listens: boolean
  readAt: number
}

/** A send of an agent that nobody woke asks this alone: it reads and writes nothing. */
const guard = memory(
  (): Guard => ({
    woken: new Map(),
    threads: new Set(),
    pairs: new Set(),
    heard: 1,
    seen: 0,
    listens: false,
    readAt: Number.NEGATIVE_INFINITY,
  }),
)

const lookEveryMs = 1000

async function known(hub: Hub): Promise<Guard> {
  const kept = guard(hub)
  const now = hub.clock.now()
  if (kept.seen === kept.heard && (kept.listens || now - kept.readAt < lookEveryMs)) return kept
  const { heard } = kept
  kept.readAt = now
  const db = reader(hub)
  const [woken, threads, pairs] = [await listWoken(db), await listPausedThreads(db), await listPausedPairs(db)]
  kept.woken = new Map(woken.map(({ agent_id, since }) => [agent_id, since]))
  kept.threads = new Set(threads.map(({ thread_id }) => thread_id))
  kept.pairs = new Set(pairs.map(({ low_id, high_id }) => pairKey(low_id, high_id)))
  kept.seen = heard
  return kept
}

/** After a commit of this process that may have changed something. */
export function lookAgain(hub: Hub): void {
  guard(hub).heard++
}

/** For a server, which is woken anyway: it knows of changes elsewhere at once, and never looks without one. */
export function keepGuard(hub: Hub): () => Promise<void> {
  const kept = guard(hub)
  const again = () => lookAgain(hub)
  const stop = onWake(hub, loopsChannel, again, again)
  kept.listens = true
  lookAgain(hub)
  return async () => {
    kept.listens = false
    stop()
  }
}

/** Channels of a change that others have to know of, before the agents that may be woken again ask for their mail. */
export const loopsChanged = (projectId: number, agentIds: readonly number[] = []) =>
  ({ kind: 'presence.changed', projectId, wakes: [loopsChannel, ...agentIds.map(mailChannel)] }) as const

/** After this long without a push a send is no answer to one: clients whose hooks report no prompts would count as woken for good. */
const wokenMs = 3_600_000

/** Written again when half of it has passed: once a chain of wakes, and not for each of them. */
const againMs = wokenMs / 2

/** A push went to the agent: its sends count as woken from now on. */
export async function noteWoken(hub: Hub, caller: Caller, agent: Agent): Promise<void> {
  const now = hub.clock.now()
  if (now - ((await known(hub)).woken.get(agent.id) ?? 0) < againMs) return
  await commit(hub, caller, async (tx, note) => {
    await upsertWoken(tx, agent.id, now)
    note(loopsChanged(agent.projectId))
  })
  lookAgain(hub)
}

/** A person's prompt came to a session of the agent: it acts on its own again. */
export async function notePrompted(hub: Hub, caller: Caller, agent: Agent): Promise<void> {
  if (!(await known(hub)).woken.has(agent.id)) return
  await commit(hub, caller, async (tx, note) => {
    await deleteWoken(tx, agent.id)
    note(loopsChanged(agent.projectId))
  })
  lookAgain(hub)
}

/** How a message stands with the guard: sent because its agent was woken, or by a person, who ends a pause. */
export type Drive = 'woken' | 'person' | undefined

export async function driveOf(
  hub: Hub,
  { sender, draft }: { sender: Agent | Newcomer; draft: { readonly automatic?: boolean | undefined } },
): Promise<Drive> {
  const kept = await known(hub)
  if (isReserved(sender.name)) return 'person'
  if (draft.automatic) return 'woken'
  if (isNewcomer(sender)) return undefined
  return hub.clock.now() - (kept.woken.get(sender.id) ?? 0) < wokenMs ? 'woken' : undefined
}

interface Guarded {
  readonly drive: Drive
  readonly sender: Agent
  readonly recipients: readonly Agent[]
  readonly threadId: number
  readonly messageId: number
  readonly seq: number
}

/** In the transaction of the send. Nothing for a message that nobody was woken for. */
export async function guardLoop(hub: Hub, tx: Tx, note: Note, message: Guarded): Promise<void> {
  const { drive, sender, recipients, threadId } = message
  if (drive === undefined) return
  const recipientIds = recipients.map(({ id }) => id)
  if (drive === 'person') {
    const thread = await resumeThread(tx, threadId)
    const pairs = await resumePairsOf(tx, recipientIds)
    const unread = thread ? await listUnreadOf(tx, threadId) : []
    if (thread || pairs.length > 0) note(loopsChanged(sender.projectId, [...new Set([...pairs, ...unread])]))
    return
  }
  const now = hub.clock.now()
  const { loopTurns, loopPerHour } = hub.rules.waking
  const { hops, paused } = await updateHops(tx, message)
  const reasons: string[] = []
  if (hops >= loopTurns && !paused) {
    reasons.push(
      `The last ${hops} messages of this thread were each written by an agent that the one before had woken.`,
    )
    await upsertPausedThread(tx, threadId, message.seq + 1, now)
  }
  for (const id of recipientIds) {
    if (id === sender.id) continue
    const [low, high] = [Math.min(id, sender.id), Math.max(id, sender.id)]
    const pair = await countPair(tx, { low, high, now })
    if (pair.woken < loopPerHour || pair.paused) continue
    reasons.push(`Two agents have woken each other for ${pair.woken} messages within an hour.`)
    await pausePair(tx, low, high, now)
  }
  if (reasons.length === 0) return
  hub.metrics.loopsPaused.inc(reasons.length)
  await putNotice(hub, tx, note, {
    threadId,
    projectId: sender.projectId,
    to: [sender, ...recipients.filter(({ id }) => id !== sender.id)],
    subject: 'Waking is paused',
    body: `${reasons.join(' ')} ${goesOn}`,
    unread: false,
  })
  note(loopsChanged(sender.projectId))
}

const goesOn =
  'Nobody is woken for it any more; mail goes on, and a waiting agent still gets it. A message of a person, or `parley loops resume`, lets wakes go on.'

/** The mail of an agent that it is not woken for. Undefined where nothing is paused, which is nearly always. */
export async function heldWakes(hub: Hub, agentId: number): Promise<HeldWakes | undefined> {
  const { threads, pairs } = await known(hub)
  if (threads.size === 0 && pairs.size === 0) return undefined
  const senderIds = [...pairs].flatMap((pair) => {
    const [low = 0, high = 0] = pair.split(' ').map(Number)
    return low === agentId ? [high] : high === agentId ? [low] : []
  })
  return { threadIds: [...threads], senderIds }
}

/** The recipients of a message that are not woken for it. */
export async function listHeldWakes(
  hub: Hub,
  {
    threadId,
    senderId,
    deliveries,
  }: { threadId: number; senderId: number; deliveries: readonly { readonly agent: Agent }[] },
): Promise<ReadonlySet<number>> {
  const { threads, pairs } = await known(hub)
  if (threads.size === 0 && pairs.size === 0) return nobody
  const held = deliveries.filter(({ agent }) => threads.has(threadId) || pairs.has(pairKey(senderId, agent.id)))
  return new Set(held.map(({ agent }) => agent.id))
}

const nobody: ReadonlySet<number> = new Set()
