/** Keys: what proves that a caller is one agent. A key is shown once; the hub keeps its hash. */
import { hash } from 'node:crypto'
import { findKeyHolder } from '../../store/agents/keys.ts'
import { type Hub, onWake, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { type AgentCaller, agentCaller, type Caller } from './callers.ts'

const pattern = /^amb_[0-9a-f]{64}$/

export const newKey = ({ ids }: Hub): string => `amb_${ids.secret()}`

/** A key is 256 random bits: a fast hash is enough, and looking a hash up tells nothing of how much of a guess was right. */
export const hashKey = (key: string): string => hash('sha256', key)

/** How a key begins: enough to tell the keys of an agent apart, and nothing to guess the rest from. */
export const keyPrefix = (key: string): string => key.slice(0, 8)

/** How the wake-up channels of agents' keys begin. */
export const keyChannels = 'key:'

/** Keys that were good a moment ago. Every process hears of a change; one that misses it asks again within a second. */
const goodKeys = memory((hub) => {
  const seen = new Map<string, { readonly caller: Caller; readonly at: number }>()
  const forget = () => seen.clear()
  onWake(hub, keyChannels, forget, forget)
  return seen
})

/** Asking the store for every call would cost a tenth of it on SQLite, and more on PostgreSQL. */
const goodMs = 1000

/** Whose key it is; undefined for anything that is no key, or no longer one. A promise only where the store is asked. */
export function callerOfKey(hub: Hub, key: string): Caller | undefined | Promise<Caller | undefined> {
  if (!pattern.test(key)) return undefined
  const hashed = hashKey(key)
  const seen = goodKeys(hub).get(hashed)
  if (seen !== undefined && Math.abs(hub.clock.now() - seen.at) < goodMs) return seen.caller
  return lookUp(hub, hashed)
}

async function lookUp(hub: Hub, hashed: string): Promise<Caller | undefined> {
  const at = hub.clock.now()
  const row = await findKeyHolder(reader(hub), hashed)
  if (row === undefined) return undefined
  const caller = agentCaller({ id: row.id, projectId: row.project_id })
  return remember(goodKeys(hub), hashed, { caller, at }).caller
}

interface Holding {
  readonly caller: AgentCaller & Caller
  readonly hash: string
  readonly lost: () => void
}

/** Connections that stay only as long as their key is valid. Every process hears of a change; one that may have missed some asks for all. */
const holdings = memory((hub) => {
  const all = new Set<Holding>()
  const check = (changed: (holding: Holding) => boolean) => {
    for (const holding of all) if (changed(holding)) void checkHolding(hub, holding)
  }
  onWake(
    hub,
    keyChannels,
    (channel) => check(({ caller }) => channel === `${keyChannels}${caller.agentId}`),
    () => check(() => true),
  )
  return all
})

/** Never rejects: what cannot be read now is asked again at the next change. */
async function checkHolding(hub: Hub, holding: Holding): Promise<void> {
  try {
    if (await holdsKey(hub, holding.caller, holding.hash)) return
    if (holdings(hub).delete(holding)) holding.lost()
  } catch (error) {
    hub.log.warn({ err: error }, 'whether a key is still good could not be read')
  }
}

/** Calls `lost` once the key by which a caller came is no longer good, unless the returned function was called before. */
export function onKeyLost(hub: Hub, caller: Caller, key: string, lost: () => void): () => void {
  if (caller.kind !== 'agent' || !pattern.test(key)) return () => {}
  const holding = { caller, hash: hashKey(key), lost }
  holdings(hub).add(holding)
  // It may have been revoked since the caller was let in.
  void checkHolding(hub, holding)
  return () => {
    holdings(hub).delete(holding)
  }
}

/** Whether a key that was good is so still; by its hash, because nobody has to keep the key itself. */
export async function holdsKey(hub: Hub, caller: Caller, hash: string): Promise<boolean> {
  const row = await findKeyHolder(reader(hub), hash)
  return caller.kind === 'agent' && row?.id === caller.agentId
}
