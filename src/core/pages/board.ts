/** The board of agents, in order of need: one that is stuck holds others up and is silent, one that is blocked is held up by it. */
import {
  type BoardAgentRow,
  type HeldRow,
  listBoardAgents,
  listHolding,
  listOldest,
  listOwed,
  listTaken,
  type OwedRow,
  type TakenRow,
} from '../../store/pages/board.ts'
import type { Caller } from '../access/callers.ts'
import { homeOf, pageSight } from '../access/rules.ts'
import { activity } from '../agents/activity.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { conflictsOf, type LeasePair } from '../leases/conflicts.ts'
import { type Present, whoWaits } from '../presence/presence.ts'
import { describeReach, type Reach } from '../presence/reach.ts'
import { needProject } from '../projects/projects.ts'
import { keep } from './kept.ts'
import { slugsOf, type Who } from './page-message.ts'

/**
 *   stuck ── seen again ──▶ working ── some minutes ──▶ idle ── an hour ──▶ away ── others wait for it ──▶ stuck
 *   waiting: while a call of it waits; blocked: while what it waits for is with one that is stuck
 */
export const boardStates = ['stuck', 'blocked', 'waiting', 'working', 'idle', 'away'] as const
export type BoardState = (typeof boardStates)[number]

/** Why an agent holds others up, or is held up itself. */
export type Hold =
  | { readonly kind: 'lease'; readonly pattern: string; readonly other: Who }
  | { readonly kind: 'ack'; readonly since: number; readonly other: Who }
  | { readonly kind: 'unread'; readonly since: number; readonly other: Who }
  /** It took the mail, and has not answered. */
  | { readonly kind: 'answer'; readonly since: number; readonly other: Who }

export interface BoardAgent extends Who {
  readonly id: number
  readonly program: string
  readonly model: string
  readonly task: string
  readonly state: BoardState
  readonly unread: number
  /** When the oldest mail that it has not read was sent. */
  readonly oldestUnread: number | undefined
  readonly leases: number
  /** Things that others wait for, the leases first. */
  readonly holds: readonly Hold[]
  /** Things that it waits for itself, with agents that are stuck. */
  readonly blockedBy: readonly Hold[]
  /** Whether mail gets through to it now, and how; undefined for a caller that may not see all agents. */
  readonly reach: Reach | undefined
  /** 0 for one that never did anything. */
  readonly seenAt: number
}

export interface Board {
  readonly agents: readonly BoardAgent[]
  /** Whether there are more agents than these. */
  readonly more: boolean
  readonly conflicts: readonly LeasePair<HeldRow>[]
  /** The oldest first. */
  readonly owed: readonly OwedRow[]
  /** Whether there are more overdue acknowledgements than these. */
  readonly moreOwed: boolean
  /** Every agent that was looked at, by its id. */
  readonly byId: ReadonlyMap<number, BoardAgent>
}

/** Mail that is unread for longer than this keeps its sender waiting; after a week nobody waits any more. */
const longUnreadMs = 3_600_000
export const givenUpMs = 604_800_000
const workingMs = 300_000
const idleMs = 3_600_000
const most = { agents: 200, leases: 2000, owed: 500, waiting: 20 } as const

interface BoardWish {
  readonly project?: string | undefined
  readonly limit?: number | undefined
  /** The mark of the end of the feed, where a board that was read at it may be shown. */
  readonly mark?: string | undefined
}

export async function readBoard(
  hub: Hub,
  caller: Caller,
  { project, limit = most.agents, mark }: BoardWish = {},
): Promise<Board> {
  const projectId = project === undefined ? homeOf(caller) : (await needProject(hub, caller, project)).id
  const name = `board ${projectId ?? ''} ${limit}`
  return keep(hub, caller, { name, mark }, () => boardOf(hub, caller, projectId, limit))
}

async function boardOf(hub: Hub, caller: Caller, projectId: number | undefined, limit: number): Promise<Board> {
  const now = hub.clock.now()
  const [db, scope] = [reader(hub), { projectId }]
  const leases = await listHolding(db, scope, { now, limit: most.leases })
  const conflicts = conflictsOf(leases)
  const sentBefore = now - hub.rules.overdueMs
  const owed = await listOwed(db, scope, { sight: pageSight(caller), sentBefore, limit: most.owed })
  const silentSince = now - hub.rules.stuckMs
  const asked = new Set([
    ...conflicts.flatMap(({ holder, other }) => [holder.agent_id, other.agent_id]),
    ...owed.flatMap(({ recipient_id, sender_id }) => [recipient_id, sender_id]),
    ...activity(hub).unwritten().keys(),
  ])
  const rows = await listBoardAgents(db, scope, { silentSince, ids: [...asked], limit: most.agents + 1 })
  const oldest = await listOldest(
    db,
    rows.flatMap(({ oldest_id }) => oldest_id ?? []),
  )
  const named = await namesOf(hub, [
    ...rows.map(({ id, name, project_id }) => [id, name, project_id] as const),
    ...[...oldest.values(), ...owed].map((row) => [row.sender_id, row.sender, row.sender_project] as const),
    ...leases.map(({ agent_id, agent, project_id }) => [agent_id, agent, project_id] as const),
  ])
  const who = (id: number): Who => named.get(id) ?? { name: '', project: '' }
  const holds = holdsOf({ conflicts, owed, rows, oldest, sent: { from: now - givenUpMs, to: now - longUnreadMs } })
  const there = standings(hub, { rows, holds, present: await whoWaits(hub), now })
  const judged = judge({ there, holds, taken: await takenMail(hub, there, now - givenUpMs), now })
  const told = ({ with: id, ...hold }: Held): Hold => ({ ...hold, other: who(id) })
  const reach = await describeReach(
    hub,
    caller,
    rows.map(({ id, active_at }) => ({ id, activeAt: active_at })),
  )
  const leaseCounts = Map.groupBy(leases, ({ agent_id }) => agent_id)
  const agents = rows.map((row): BoardAgent => {
    const { state, seenAt, blockedBy } = judged.get(row.id) ?? nobody
    return {
      ...who(row.id),
      id: row.id,
      program: row.program,
      model: row.model,
      task: row.task,
      state,
      unread: Number(row.unread),
      oldestUnread: oldest.get(row.oldest_id ?? 0)?.sent_at,
      leases: leaseCounts.get(row.id)?.length ?? 0,
      holds: (holds.get(row.id) ?? []).map(told),
      blockedBy: blockedBy.map(told),
      reach: reach.get(row.id),
      seenAt,
    }
  })
  agents.sort((a, b) => rank(a) - rank(b) || b.holds.length - a.holds.length || b.seenAt - a.seenAt || a.id - b.id)
  return {
    agents: agents.slice(0, limit),
    more: agents.length > limit,
    conflicts,
    owed,
    moreOwed: owed.length === most.owed,
    byId: new Map(agents.map((agent) => [agent.id, agent])),
  }
}

async function namesOf(
  hub: Hub,
  all: readonly (readonly [id: number, name: string, projectId: number])[],
): Promise<ReadonlyMap<number, Who>> {
  const slugs = await slugsOf(
    hub,
    all.map(([, , projectId]) => projectId),
  )
  return new Map(all.map(([id, name, projectId]) => [id, { name, project: slugs.get(projectId) ?? '' }]))
}

const rank = ({ state }: BoardAgent): number => boardStates.indexOf(state)

type Held = { readonly with: number } & (
  | { readonly kind: 'lease'; readonly pattern: string }
  | { readonly kind: 'ack' | 'unread' | 'answer'; readonly since: number }
)

interface Facts {
  readonly conflicts: readonly LeasePair<HeldRow>[]
  readonly owed: readonly OwedRow[]
  readonly rows: readonly BoardAgentRow[]
  readonly oldest: Awaited<ReturnType<typeof listOldest>>
  /** When mail was sent that keeps its sender waiting. */
  readonly sent: { readonly from: number; readonly to: number }
}

/** Things that others wait for, by the agent that has them. */
function holdsOf({ conflicts, owed, rows, oldest, sent }: Facts): ReadonlyMap<number, readonly Held[]> {
  const holds = new Map<number, Held[]>()
  const add = (agentId: number, held: Held): void => {
    const known = holds.get(agentId) ?? []
    if (
      held.with === agentId ||
      known.some((one) => one.with === held.with && (one.kind === held.kind || held.kind === 'unread'))
    )
      return
    holds.set(agentId, [...known, held])
  }
  for (const { holder, other } of conflicts)
    add(holder.agent_id, { kind: 'lease', pattern: other.pattern, with: other.agent_id })
  for (const { recipient_id, sender_id, sent_at } of owed)
    add(recipient_id, { kind: 'ack', since: sent_at, with: sender_id })
  for (const { id, oldest_id } of rows) {
    const mail = oldest.get(oldest_id ?? 0)
    if (mail !== undefined && mail.sent_at >= sent.from && mail.sent_at <= sent.to)
      add(id, { kind: 'unread', since: mail.sent_at, with: mail.sender_id })
  }
  return holds
}

interface Judged {
  readonly state: BoardState
  readonly seenAt: number
  readonly blockedBy: readonly Held[]
}

const nobody: Judged = { state: 'away', seenAt: 0, blockedBy: [] }

interface Standing {
  readonly standing: ReturnType<Present['of']>
  readonly seenAt: number
  readonly stuck: boolean
}

function standings(
  hub: Hub,
  {
    rows,
    holds,
    present,
    now,
  }: {
    readonly rows: readonly BoardAgentRow[]
    readonly holds: ReadonlyMap<number, readonly Held[]>
    readonly present: Present
    readonly now: number
  },
): ReadonlyMap<number, Standing> {
  return new Map(
    rows.map((row) => {
      const standing = present.of(row.id)
      const seenAt = activity(hub).latest(row.id, row.active_at)
      const silent = standing?.waiting !== true && now - seenAt >= hub.rules.stuckMs
      return [row.id, { standing, seenAt, stuck: silent && (holds.get(row.id) ?? []).length > 0 }] as const
    }),
  )
}

/** Mail that stuck agents took, of those that wait now. */
async function takenMail(hub: Hub, there: ReadonlyMap<number, Standing>, since: number): Promise<readonly TakenRow[]> {
  const idsOf = (which: (standing: Standing) => boolean) => [...there].filter(([, one]) => which(one)).map(([id]) => id)
  const recipients = idsOf(({ stuck }) => stuck)
  const senders = idsOf(({ standing }) => standing?.waiting === true).slice(0, most.waiting)
  if (recipients.length === 0 || senders.length === 0) return []
  return listTaken(reader(hub), { senders, recipients, since })
}

interface Judging {
  readonly there: ReadonlyMap<number, Standing>
  readonly holds: ReadonlyMap<number, readonly Held[]>
  readonly taken: readonly TakenRow[]
  readonly now: number
}

function judge({ there, holds, taken, now }: Judging): ReadonlyMap<number, Judged> {
  const blocked = new Map<number, Held[]>()
  for (const [id, { stuck }] of there)
    for (const held of stuck ? (holds.get(id) ?? []) : []) {
      // Mail that nobody has read holds its sender up while it waits for the answer.
      if (held.kind === 'unread' && there.get(held.with)?.standing?.waiting !== true) continue
      blocked.set(held.with, [...(blocked.get(held.with) ?? []), { ...held, with: id }])
    }
  for (const { sender_id, recipient_id, sent_at } of taken) {
    const known = blocked.get(sender_id) ?? []
    if (known.every((held) => held.with !== recipient_id))
      blocked.set(sender_id, [...known, { kind: 'answer', since: sent_at, with: recipient_id }])
  }
  return new Map(
    [...there].map(([id, { standing, seenAt, stuck }]) => {
      const blockedBy = stuck ? [] : (blocked.get(id) ?? [])
      const ago = now - seenAt
      const state: BoardState = stuck
        ? 'stuck'
        : blockedBy.length > 0
          ? 'blocked'
          : standing?.waiting
            ? 'waiting'
            : ago < workingMs
              ? 'working'
              : standing !== undefined || ago < idleMs
                ? 'idle'
                : 'away'
      return [id, { state, seenAt, blockedBy }]
    }),
  )
}
