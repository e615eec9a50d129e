/** Presence: which agents wait now, in this process and in others. Coming and going is told to others in batches. */
import {
  deleteNodes,
  listPresence,
  listProjectsOf,
  type PresenceRow,
  updatePresence,
  upsertNode,
} from '../../store/presence.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { keepLooking, type Loop, type Next } from '../hub/keep-looking.ts'
import { memory } from '../hub/memory.ts'
import { isWaitingHere, listWaitingHere, onWaits } from '../hub/waits.ts'
import { sessionKey, type Waiter, Waiters } from './waiters.ts'

/** How an agent waits now; undefined of those that do not. */
export interface Standing {
  /** A call or a stream of its own waits: it gets the message at once. */
  readonly waiting: boolean
  /** The adapter of a waiter that wakes its idle client. */
  readonly via: string | undefined
}

export interface Present {
  /** Of all that wait now. */
  ids(): number[]
  /** `since`: also those that have waited since then, by the monotonic clock. */
  of(agentId: number, since?: number): Standing | undefined
}

/** The channel on which nodes tell each other of coming and going. */
const presenceChannel = 'presence'

/** Coming and going of this long goes out as one commit: of a loop that waits again at once, nobody is told. */
const gatherMs = 100

/** A node that was silent for this long is dead, with all its waiters. */
const nodeMs = 60_000
const renewMs = 20_000

/** Of agents that others have: `expiresAt` is when the first of their nodes has to be looked at again. */
interface Others {
  readonly by: ReadonlyMap<number, Standing>
  /** Since when a waiter stands there, by session. */
  readonly waiters: ReadonlyMap<string, number>
  readonly expiresAt: number
}

const kept = memory((hub) => ({
  node: hub.ids.token(),
  waiters: new Waiters(),
  listeners: new Set<() => void>(),
  /** Known while this process is told of changes; else it asks. */
  others: undefined as Others | undefined,
}))

/** The one answer to who waits, for receipts, pages and commands. From memory where this process is told of changes. */
export async function whoWaits(hub: Hub): Promise<Present> {
  const { waiters, others } = kept(hub)
  const elsewhere = others ?? (await lookElsewhere(hub))
  return {
    ids: () => [
      ...new Set([...listWaitingHere(hub), ...waiters.all().map(({ agentId }) => agentId), ...elsewhere.by.keys()]),
    ],
    of(agentId, since) {
      const there = elsewhere.by.get(agentId)
      const waiting = isWaitingHere(hub, agentId, since) || there?.waiting === true
      const via = waiters.viaOf(agentId, since) ?? there?.via
      return waiting || via !== undefined ? { waiting, via } : undefined
    },
  }
}

/** Lets a waiter stand for its session until the returned function is called. The older one of a session is displaced, whichever asked last. */
export function addWaiter(hub: Hub, waiter: Waiter): () => void {
  const { waiters, others, listeners } = kept(hub)
  if ((others?.waiters.get(sessionKey(waiter)) ?? 0) > waiter.since) {
    waiter.displaced()
    return () => {}
  }
  waiters.add(waiter, hub.clock.monotonic())?.displaced()
  for (const tell of listeners) tell()
  return () => {
    if (waiters.remove(waiter, hub.clock.monotonic())) for (const tell of listeners) tell()
  }
}

/** Whether a waiter stands for the session, here or at another node. */
export function hasWaiter(hub: Hub, of: Pick<Waiter, 'agentId' | 'session'>): boolean {
  const { waiters, others } = kept(hub)
  return waiters.has(of) || others?.waiters.has(sessionKey(of)) === true
}

/**
 * Tells other processes who waits here, until the returned function is called. `listens`: this process also keeps in memory who waits
 * elsewhere; one without it (a client's stdio server) is woken by nothing, and asks when it wants to know.
 */
export function keepPresence(hub: Hub, { listens }: { listens: boolean }): () => Promise<void> {
  const own = kept(hub)
  const written = new Map<string, PresenceRow>()
  let renewedAt = 0

  async function look(): Promise<Next> {
    await tellOthers()
    if (!listens) return written.size > 0 ? { inMs: renewMs } : 'rest'
    const others = await lookElsewhere(hub)
    own.others = others
    endDisplaced(hub, others.waiters)
    const expiry = others.expiresAt - hub.clock.now()
    const renewal = written.size > 0 ? renewMs : Number.POSITIVE_INFINITY
    const inMs = Math.min(expiry, renewal)
    return Number.isFinite(inMs) ? { inMs: Math.max(1000, inMs) } : 'rest'
  }

  async function tellOthers(): Promise<void> {
    const rows = rowsHere(hub)
    const came = [...rows].flatMap(([key, row]) => (sameRow(written.get(key), row) ? [] : [row]))
    const left = [...written].flatMap(([key, row]) => (rows.has(key) ? [] : [row]))
    const now = hub.clock.now()
    if (came.length === 0 && left.length === 0 && (written.size === 0 || now - renewedAt < renewMs)) return
    await writeRows(hub, { came, left, now })
    renewedAt = now
    for (const row of left) written.delete(keyOf(row))
    for (const row of came) written.set(keyOf(row), row)
  }

  const loop: Loop = keepLooking(hub, {
    ...(listens && { channels: presenceChannel }),
    gatherMs,
    apartMs: gatherMs,
    ...(listens && { firstMs: 0 }),
    backOff: { firstMs: 1000, longestMs: 30_000, wakesShorten: false },
    failure: 'who waits here is not told to other processes; it is tried again',
    look,
  })
  const unlisten = onWaits(hub, () => loop.wake())
  own.listeners.add(loop.wake)
  return async () => {
    unlisten()
    own.listeners.delete(loop.wake)
    await loop.stop()
    own.others = undefined
    if (written.size === 0) return
    const left = [...written.values()]
    await writeRows(hub, { came: [], left, now: hub.clock.now(), gone: true }).catch((error: unknown) =>
      hub.log.debug({ err: error }, 'who waited here is forgotten when this process has been silent for a minute'),
    )
  }
}

interface Moves {
  readonly came: readonly PresenceRow[]
  readonly left: readonly PresenceRow[]
  readonly now: number
  /** The node ends. */
  readonly gone?: boolean
}

/** Nobody needs it after a power cut: it does not wait for the disk. */
async function writeRows(hub: Hub, { came, left, now, gone = false }: Moves): Promise<void> {
  const { node } = kept(hub)
  const moved = [...came, ...left].map(({ agent_id }) => agent_id)
  await commit(
    hub,
    itself,
    async (tx, note) => {
      if (!gone) await upsertNode(tx, node, now + nodeMs)
      await updatePresence(tx, node, { came, left })
      await deleteNodes(tx, { before: now - nodeMs, ...(gone && { node }) })
      const projects = moved.length === 0 ? [] : await listProjectsOf(tx, moved)
      for (const projectId of projects) note({ kind: 'presence.changed', projectId, wakes: [presenceChannel] })
    },
    { repeatable: true },
  )
}

const keyOf = ({ agent_id, kind, session }: PresenceRow): string => `${agent_id} ${kind} ${session}`

/** A waiter that took over is another one, though its key is the same. */
const sameRow = (one: PresenceRow | undefined, other: PresenceRow): boolean =>
  one !== undefined && (other.kind === 'call' || (one.since === other.since && one.via === other.via))

function rowsHere(hub: Hub): ReadonlyMap<string, PresenceRow> {
  const since = hub.clock.now()
  const rows: PresenceRow[] = [...listWaitingHere(hub)].map((agent_id) => ({
    agent_id,
    kind: 'call',
    session: '',
    via: '',
    since,
  }))
  for (const { agentId, session, via, since } of kept(hub).waiters.all())
    rows.push({ agent_id: agentId, kind: 'waiter', session, via, since })
  return new Map(rows.map((row) => [keyOf(row), row]))
}

async function lookElsewhere(hub: Hub): Promise<Others> {
  const by = new Map<number, Standing>()
  const waiters = new Map<string, number>()
  let expiresAt = Number.POSITIVE_INFINITY
  for (const row of await listPresence(reader(hub), { except: kept(hub).node, now: hub.clock.now() })) {
    const known = by.get(row.agent_id)
    const isWaiter = row.kind === 'waiter'
    by.set(row.agent_id, {
      waiting: known?.waiting === true || !isWaiter,
      via: isWaiter ? row.via : known?.via,
    })
    if (isWaiter) waiters.set(sessionKey({ agentId: row.agent_id, session: row.session }), row.since)
    expiresAt = Math.min(expiresAt, row.expires_at)
  }
  return { by, expiresAt, waiters }
}

/** A waiter here ends where a newer one of its session stands elsewhere. */
function endDisplaced(hub: Hub, elsewhere: ReadonlyMap<string, number>): void {
  const { waiters } = kept(hub)
  for (const waiter of waiters.all()) {
    const newer = elsewhere.get(sessionKey(waiter))
    if (newer === undefined || newer <= waiter.since) continue
    waiters.remove(waiter, hub.clock.monotonic())
    waiter.displaced()
  }
}
