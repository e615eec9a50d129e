/** Leases: an agent reserves paths until a time, exclusive or shared. Others are told; nothing is locked. */

import { latestTime } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { inSpan } from '../../base/tracing.ts'
import type { Tx } from '../../db/port.ts'
import { type Glob, OverBudget, parseGlob } from '../../globs/globs.ts'
import {
  insertLease,
  type LeaseRow,
  listExpiring as listExpiringRows,
  listLeasesOf,
  listLeases as listRows,
  type NamedLeaseRow,
  updateExpired,
  updateExtended,
  updateReleased,
  updateSameLease,
} from '../../store/leases.ts'
import { lockProject } from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { commit, itself, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'
import { listInTheWay } from './overlaps.ts'

export { haveOverlappingLeases } from './overlaps.ts'

export interface Lease {
  readonly id: number
  /** The name of its holder. */
  readonly agent: string
  readonly pattern: string
  readonly exclusive: boolean
  readonly reason: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly releasedAt: number | undefined
}

const toLease = (row: LeaseRow, agent: string): Lease => ({
  id: row.id,
  agent,
  pattern: row.pattern,
  exclusive: row.exclusive === 1,
  reason: row.reason,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  releasedAt: row.released_at ?? undefined,
})

export const fromNamed = (row: NamedLeaseRow): Lease => toLease(row, row.agent)

export interface Reserving {
  readonly patterns: readonly string[]
  readonly exclusive: boolean
  readonly reason: string
  readonly ttlMs: number
  /** Whether a path that another holds is granted all the same, as advice, or refused. */
  readonly onConflict: 'grant' | 'refuse'
}

export interface Conflict {
  readonly pattern: string
  readonly holders: readonly Lease[]
  /** Whether there are more holders than these. */
  readonly more: boolean
}

export interface Reserved {
  readonly granted: readonly Lease[]
  /** The ids of those among them that the agent did not hold before. */
  readonly made: readonly number[]
  readonly conflicts: readonly Conflict[]
}

/** How many expired leases a reservation puts away: more than it makes, so that they never pile up. */
const expiredPerCommit = 200

/**
 * The reservations of a project are answered one after the other: else two could both find a path free, or neither hear
 * of the other. An agent that reserves a pattern again, in the same way, keeps its lease for longer instead of getting a
 * second one (mail.lease.again); the lease never ends sooner, and a new reason replaces the old one.
 */
export const reserve = (hub: Hub, acting: Acting, reserving: Reserving): Promise<Reserved> =>
  inSpan('reserve', () => reserveNow(hub, acting, reserving))

async function reserveNow(
  hub: Hub,
  acting: Acting,
  { patterns, exclusive, reason, ttlMs, onConflict }: Reserving,
): Promise<Reserved> {
  const agent = await actAs(hub, acting)
  const globs = await readGlobs(hub, acting, patterns)
  return commit(hub, acting.caller, async (tx, note) => {
    await lockProject(tx, agent.projectId)
    const now = hub.clock.now()
    await expire(tx, note, now, expiredPerCommit)
    const granted: Lease[] = []
    const made: number[] = []
    const conflicts: Conflict[] = []
    const wanted = { projectId: agent.projectId, agentId: agent.id, exclusive, now, budget: { steps: mostSteps } }
    for (const glob of globs) {
      const { rows, more } = await listInTheWay(tx, { ...wanted, glob }).catch(tooHard)
      if (rows.length > 0) conflicts.push({ pattern: glob.text, holders: rows.map(fromNamed), more })
      if (rows.length > 0 && onConflict === 'refuse') continue
      const { text: pattern, prefix } = glob
      const lease = { ...wanted, pattern, prefix, reason, expiresAt: Math.min(now + ttlMs, latestTime) }
      const held = await updateSameLease(tx, lease)
      const row = held ?? (await insertLease(tx, lease))
      if (held === undefined) made.push(row.id)
      granted.push(toLease(row, agent.name))
    }
    for (const { id } of granted) note(changed('lease.granted', agent, id))
    return { granted, made, conflicts }
  })
}

/** Some 150 ms of comparing: patterns that people write take a thousandth of it. */
const mostSteps = 1_000_000

function tooHard(error: unknown): never {
  if (!(error instanceof OverBudget)) throw error
  throw new HubError('INVALID_ARGUMENT', 'These patterns are too complex to compare with the reservations of others.', {
    hint: 'Nothing was changed. Ask again with fewer wildcards, or with fewer paths at once.',
  })
}

const changed = (
  kind: 'lease.granted' | 'lease.renewed' | 'lease.released',
  { projectId, id: agentId }: Agent,
  leaseId: number,
) => ({ kind, projectId, agentId, leaseId })

/** Which of the caller's own active leases; all of them if neither is given. */
export interface Choice {
  readonly patterns?: readonly string[] | undefined
  readonly ids?: readonly number[] | undefined
}

export interface Released {
  readonly released: number
  readonly releasedAt: number
  /** Where nothing was released: the leases that the agent holds. */
  readonly held: readonly Lease[]
  /** Whether it holds more than these. */
  readonly more: boolean
}

/**
 * A pattern names the leases on that same pattern: those that merely overlap it stay. Waits for reservations in progress,
 * so that nobody is granted a path as of a time at which another still held it.
 */
export async function release(hub: Hub, acting: Acting, choice: Choice): Promise<Released> {
  const agent = await actAs(hub, acting)
  const patterns = choice.patterns && (await readGlobs(hub, acting, choice.patterns)).map(({ text }) => text)
  return commit(hub, acting.caller, async (tx, note) => {
    await lockProject(tx, agent.projectId)
    const now = hub.clock.now()
    const ids = await updateReleased(tx, { agentId: agent.id, ids: choice.ids, patterns, now })
    for (const id of ids) note(changed('lease.released', agent, id))
    const held = ids.length > 0 ? [] : await listLeasesOf(tx, { agentId: agent.id, now, limit: mostHeld + 1 })
    return {
      released: ids.length,
      releasedAt: now,
      held: held.slice(0, mostHeld).map((row) => toLease(row, agent.name)),
      more: held.length > mostHeld,
    }
  })
}

/** So many leases are told to whoever releases in vain. */
const mostHeld = 100

/**
 * Adds to the time that is left, up to 30 days from now. An expired lease is free and stays free: its path is reserved
 * again, not renewed. Waits for reservations in progress, lest one of them take a lease for expired that is just being
 * renewed.
 */
export async function renew(hub: Hub, acting: Acting, choice: Choice & { readonly byMs: number }): Promise<Lease[]> {
  const agent = await actAs(hub, acting)
  const patterns = choice.patterns && (await readGlobs(hub, acting, choice.patterns)).map(({ text }) => text)
  return commit(hub, acting.caller, async (tx, note) => {
    await lockProject(tx, agent.projectId)
    const now = hub.clock.now()
    const latest = Math.min(now + limits.leaseSeconds * 1000, latestTime)
    const by = Math.min(choice.byMs, latest)
    const rows = await updateExtended(tx, { agentId: agent.id, ids: choice.ids, patterns, now }, { by, latest })
    for (const { id } of rows) note(changed('lease.renewed', agent, id))
    return rows.sort((a, b) => a.id - b.id).map((row) => toLease(row, agent.name))
  })
}

const readGlobs = async (hub: Hub, { caller, project }: Acting, patterns: readonly string[]): Promise<Glob[]> =>
  readPatterns((await needProject(hub, caller, project)).key, patterns)

/** All patterns are read before anything is done; of two that say the same one counts. The key is the project's folder. */
export function readPatterns(key: string, patterns: readonly string[]): Glob[] {
  const globs = new Map<string, Glob>()
  for (const pattern of patterns) {
    const parsed = parseGlob(pattern, key)
    if ('fault' in parsed)
      throw new HubError('INVALID_ARGUMENT', `The pattern ${JSON.stringify(pattern.slice(0, 100))} ${parsed.fault}.`, {
        hint: 'Nothing was changed. Call it again with paths relative to the project, such as src/api/*.ts, docs/** or {a,b}.json.',
      })
    globs.set(parsed.glob.text, parsed.glob)
  }
  return [...globs.values()]
}

/** Whether these patterns can be read, and compared with all that is held: asked before an agent is made that wants them. */
export async function checkPatterns(
  hub: Hub,
  caller: Caller,
  project: string,
  patterns: readonly string[],
): Promise<void> {
  const { id: projectId, key } = await needProject(hub, caller, project)
  const wanted = { projectId, agentId: 0, exclusive: true, now: hub.clock.now(), budget: { steps: mostSteps } }
  for (const glob of readPatterns(key, patterns)) await listInTheWay(reader(hub), { ...wanted, glob }).catch(tooHard)
}

/** Time ended these leases, not the caller that comes upon them. */
async function expire(tx: Tx, note: Note, now: number, limit: number): Promise<number> {
  const rows = await updateExpired(tx, now, limit)
  for (const { id: leaseId, project_id: projectId, agent_id: agentId } of rows)
    note({ kind: 'lease.expired', actor: itself.key, projectId, agentId, leaseId })
  return rows.length
}

/** Puts away at most `limit` expired leases and returns how many. Only for speed: an expired lease is free either way. */
export function sweepLeases(hub: Hub, limit: number): Promise<number> {
  return commit(hub, itself, (tx, note) => expire(tx, note, hub.clock.now(), limit))
}

/** The newest first; with `before`, those made before that one. */
export async function listLeases(
  hub: Hub,
  caller: Caller,
  project: string,
  { activeOnly, limit, before }: { activeOnly: boolean; limit: number; before?: number | undefined },
): Promise<{ leases: Lease[]; hasMore: boolean; now: number }> {
  const { id: projectId } = await needProject(hub, caller, project)
  const now = hub.clock.now()
  const activeAt = activeOnly ? now : undefined
  const rows = await listRows(reader(hub), { projectId, activeAt, before, limit: limit + 1 })
  return { leases: rows.slice(0, limit).map(fromNamed), hasMore: rows.length > limit, now }
}

/** Active leases that end within this time, the next one first. */
export async function listExpiring(
  hub: Hub,
  caller: Caller,
  project: string,
  { withinMs, limit }: { withinMs: number; limit: number },
): Promise<{ leases: Lease[]; hasMore: boolean; now: number }> {
  const { id: projectId } = await needProject(hub, caller, project)
  const now = hub.clock.now()
  const rows = await listExpiringRows(reader(hub), { projectId, now, until: now + withinMs, limit: limit + 1 })
  return { leases: rows.slice(0, limit).map(fromNamed), hasMore: rows.length > limit, now }
}
