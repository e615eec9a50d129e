/** Sessions of clients: when a hook of each was heard, and whether a turn of it runs. Known in every server. */
import {
  type ClientSessionRow,
  deleteOldSessions,
  isClientHeard,
  listChangedSessions,
  listOfSession,
  listSessionsOf,
  upsertSessions,
} from '../../store/client-sessions.ts'
import { listProjectsOf } from '../../store/presence.ts'
import { needWriting } from '../access/rules.ts'
import { type Acting, findActor } from '../agents/acting.ts'
import { type Agent, isNewcomer, mailChannel } from '../agents/agents.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader, wakeHere } from '../hub/hub.ts'
import { keepLooking, type Loop, type Next } from '../hub/keep-looking.ts'
import { memory } from '../hub/memory.ts'

/** A client, and its own name for one of its sessions. */
export interface ClientSession {
  readonly client: string
  readonly session: string
}

/**
 * A session begins or comes back; a turn begins; a tool of it has ended; its context was made shorter, in a turn or between two; a turn ends;
 * the session ends.
 *
 *   idle     ── a turn begins, or a tool ends ──▶ in a turn
 *   in a turn ── it ends, or the session begins anew ──▶ idle
 *   any      ── the session ends ──▶ ended ── any hook ──▶ as above
 */
export type SessionStep = 'start' | 'turn' | 'tool' | 'compact' | 'stop' | 'end'

/** The channel on which nodes tell each other of sessions. */
export const sessionsChannel = 'sessions'

/** Steps of this long are one commit. */
const gatherMs = 100

/** A session that goes on as before is written this often. */
const againMs = 60_000

/** Idle and unheard for longer, its window may be closed: no hook says so after a kill. */
const openMs = 3_600_000

/** Of a session that comes back later nobody knows whose it is. */
const keptMs = 30 * 86_400_000

/** Sessions in memory, and of one agent: each send looks through them. Past these the one that was heard longest ago leaves; it is read again when it comes back. */
const mostKept = 10_000
const mostOfAgent = 200

/** Clocks of two nodes differ by less. */
const skewMs = 10_000

const kept = memory((hub) => ({
  since: hub.clock.now(),
  byKey: new Map<string, ClientSessionRow>(),
  byAgent: new Map<number, Set<string>>(),
  bySession: new Map<string, Set<string>>(),
  /** Steps that are not written yet. */
  due: new Set<string>(),
  written: new Map<string, number>(),
  wake: undefined as (() => void) | undefined,
}))

const sessionOf = ({ client, session }: ClientSession): string => JSON.stringify([client, session])

const keyOf = ({ client, session, agent_id }: Pick<ClientSessionRow, 'client' | 'session' | 'agent_id'>): string =>
  JSON.stringify([client, session, agent_id])

/** Keeps what is later than the session known here; false if nothing is. */
export function keepSession(hub: Hub, row: ClientSessionRow): boolean {
  const { byKey, byAgent, bySession } = kept(hub)
  const key = keyOf(row)
  if ((byKey.get(key)?.changed_at ?? 0) >= row.changed_at) return false
  // The latest change stands last.
  byKey.delete(key)
  byKey.set(key, row)
  const own = addLast(byAgent, row.agent_id, key)
  addLast(bySession, sessionOf(row), key)
  const [oldest = ''] = own.size > mostOfAgent ? own : byKey.size > mostKept ? byKey.keys() : []
  drop(hub, oldest)
  return true
}

function addLast<Key>(index: Map<Key, Set<string>>, at: Key, key: string): Set<string> {
  const own = index.get(at) ?? new Set()
  own.delete(key)
  index.set(at, own.add(key))
  return own
}

/** The agents of a session, the last bound first. */
export async function agentsOfSession(hub: Hub, of: ClientSession): Promise<readonly ClientSessionRow[]> {
  if (of.session === '') return []
  const { byKey, bySession } = kept(hub)
  if (!bySession.has(sessionOf(of)))
    for (const row of await listOfSession(reader(hub), of.client, of.session)) keepSession(hub, row)
  const rows = [...(bySession.get(sessionOf(of)) ?? [])].flatMap((key) => byKey.get(key) ?? [])
  return rows.sort((a, b) => b.bound_at - a.bound_at)
}

/** Notes a hook of a session. It is written behind the answer; a session without a name is none. */
export async function noteStep(hub: Hub, acting: Acting, of: ClientSession, step: SessionStep): Promise<void> {
  needWriting(acting.caller)
  const agent = await findActor(hub, acting)
  if (!isNewcomer(agent)) stepOf(hub, agent, of, step)
}

/** The same for an agent that was found. */
export function stepOf(hub: Hub, agent: Agent, of: ClientSession, step: SessionStep): void {
  if (of.session === '') return
  const { byKey, due, written, wake } = kept(hub)
  const key = keyOf({ ...of, agent_id: agent.id })
  const before = byKey.get(key)
  const now = Math.max(hub.clock.now(), (before?.changed_at ?? 0) + 1)
  const turnBefore = before?.turn_at ?? null
  const turnAt = step === 'turn' ? now : step === 'tool' ? (turnBefore ?? now) : step === 'compact' ? turnBefore : null
  const after = {
    ...of,
    agent_id: agent.id,
    bound_at: before?.bound_at ?? now,
    heard_at: now,
    turn_at: turnAt,
    stops: step === 'stop' ? 1 : (before?.stops ?? 0),
    ended: step === 'end' ? 1 : 0,
    changed_at: now,
  }
  keepSession(hub, after)
  if (before !== undefined && before.turn_at !== null && turnAt === null) wakeHere(hub, mailChannel(agent.id))
  const same =
    before !== undefined &&
    before.heard_at !== null &&
    (before.turn_at === null) === (turnAt === null) &&
    before.stops === after.stops &&
    before.ended === after.ended
  if (same && now - (written.get(key) ?? 0) < againMs) return
  due.add(key)
  wake?.()
}

/** Until when a push into a session is held: a turn of it runs, and its end will be heard. */
export function heldUntil(hub: Hub, of: ClientSession & { readonly agentId: number }): number | undefined {
  const until = turnUntil(hub, of)
  return until !== undefined && endsHeard(hub, of) ? until : undefined
}

/**
 * A turn of which nothing more is heard counts as running for no longer than this. One that was last heard before this process began is not
 * waited for: it may have ended while no server was there to be told (Codex and Gemini CLI were then woken a quarter of an hour late).
 */
function turnUntil(hub: Hub, of: ClientSession & { readonly agentId: number }): number | undefined {
  const { since, byKey } = kept(hub)
  const row = byKey.get(keyOf({ ...of, agent_id: of.agentId }))
  const heardAt = row?.heard_at ?? 0
  if (row?.turn_at == null || heardAt < since) return undefined
  const until = heardAt + hub.rules.waking.remindMs
  return until > hub.clock.now() ? until : undefined
}

/** A client may have a hook at the beginning of its turns, and none at their end: holding back would keep mail for long. */
function endsHeard(hub: Hub, { client, agentId }: ClientSession & { readonly agentId: number }): boolean {
  const { byKey, byAgent } = kept(hub)
  return [...(byAgent.get(agentId) ?? [])].some((key) => {
    const row = byKey.get(key)
    return row?.client === client && row.stops === 1
  })
}

/** Whether hooks of a session work: one was heard, or those of another session where nothing is known of this one. */
export async function isHeard(hub: Hub, of: ClientSession & { readonly agentId: number }): Promise<boolean> {
  const own = (await agentsOfSession(hub, of)).find(({ agent_id }) => agent_id === of.agentId)
  return own === undefined ? isClientHeard(reader(hub), of.agentId, of.client) : own.heard_at !== null
}

/** The sessions of an agent whose hooks work, and that are open. */
export interface Hooked extends ClientSession {
  /** Whether a push is held until its turn ends. */
  readonly held: boolean
}

/** From memory where this process is told of changes; else the store is asked. */
export async function hookedSessions(
  hub: Hub,
  agentIds: readonly number[],
): Promise<(agentId: number) => readonly Hooked[]> {
  const { byKey, byAgent, wake } = kept(hub)
  const now = hub.clock.now()
  if (wake === undefined && agentIds.length > 0)
    for (const row of await listSessionsOf(reader(hub), agentIds, now - openMs)) keepSession(hub, row)
  return (agentId) =>
    [...(byAgent.get(agentId) ?? [])].flatMap((key) => {
      const row = byKey.get(key)
      if (row === undefined || row.ended === 1 || row.heard_at === null || row.heard_at < now - openMs) return []
      const { client, session } = row
      return [{ client, session, held: heldUntil(hub, { client, session, agentId }) !== undefined }]
    })
}

/** Tells other servers of the sessions that were heard here, and hears of theirs, until the returned function is called. */
export function keepSessions(hub: Hub): () => Promise<void> {
  const own = kept(hub)
  let since = hub.clock.now() - openMs

  async function look(): Promise<Next> {
    const now = hub.clock.now()
    await write(hub)
    const changed = await listChangedSessions(reader(hub), { since, limit: mostKept })
    for (const row of changed.reverse()) {
      const inTurn = own.byKey.get(keyOf(row))?.turn_at ?? null
      if (keepSession(hub, row) && inTurn !== null && row.turn_at === null) wakeHere(hub, mailChannel(row.agent_id))
    }
    since = Math.max(since, now - skewMs)
    forget(hub, now - 2 * openMs)
    return 'rest'
  }

  const loop: Loop = keepLooking(hub, {
    channels: sessionsChannel,
    gatherMs,
    apartMs: gatherMs,
    firstMs: 0,
    backOff: { firstMs: 1000, longestMs: 30_000, wakesShorten: false },
    failure: 'sessions of clients are not told to other processes; it is tried again',
    look,
  })
  own.wake = loop.wake
  return async () => {
    own.wake = undefined
    await loop.stop()
    await write(hub).catch((error: unknown) => hub.log.debug({ err: error }, 'the last hooks heard are not noted'))
  }
}

/** Written again if the power goes, or not at all: it does not wait for the disk. */
async function write(hub: Hub): Promise<void> {
  const { byKey, due, written } = kept(hub)
  const keys = [...due].sort()
  const rows = keys.flatMap((key) => byKey.get(key) ?? [])
  if (rows.length === 0) return
  const now = hub.clock.now()
  await commit(
    hub,
    itself,
    async (tx, note) => {
      await upsertSessions(tx, rows)
      await deleteOldSessions(tx, now - keptMs)
      const projects = await listProjectsOf(tx, [...new Set(rows.map(({ agent_id }) => agent_id))])
      for (const projectId of projects) note({ kind: 'presence.changed', projectId, wakes: [sessionsChannel] })
    },
    { repeatable: true },
  )
  for (const [at, key] of keys.entries()) {
    written.set(key, now)
    // A step that came meanwhile is written next.
    if (byKey.get(key) === rows[at]) due.delete(key)
  }
}

/** Sessions that were not heard for long leave the memory; the store still has them. */
function forget(hub: Hub, before: number): void {
  const { byKey, due } = kept(hub)
  for (const [key, row] of byKey) if (row.changed_at < before && !due.has(key)) drop(hub, key)
}

function drop(hub: Hub, key: string): void {
  const { byKey, byAgent, bySession, due, written } = kept(hub)
  const row = byKey.get(key)
  if (row === undefined) return
  for (const known of [byKey, due, written]) known.delete(key)
  leave(byAgent, row.agent_id, key)
  leave(bySession, sessionOf(row), key)
}

function leave<Key>(index: Map<Key, Set<string>>, at: Key, key: string): void {
  const own = index.get(at)
  own?.delete(key)
  if (own?.size === 0) index.delete(at)
}
