/** Holders of an agent's name: a process, a session, a URL, or the holder of the agent's key. A second one is refused, unless it brings the token. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { nameKey } from '../../base/names.ts'
import { isRunning } from '../../base/processes.ts'
import type { Tx } from '../../db/port.ts'
import { findAgent } from '../../store/agents/agents.ts'
import {
  deleteHolder,
  deleteJoins,
  type HolderRow,
  listHeldBy,
  lockHolder,
  updateHolder,
  updateHoldersSeen,
} from '../../store/agents/holders.ts'
import { isWaiting } from '../../store/topics/cursors.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Caller } from './callers.ts'

/** The four who can hold a name, as the store knows them. */
export const processHolder = (name: string): string => `${processPrefix}${name}`
export const sessionHolder = (nonce: string): string => `session:${nonce}`
/** The holders of its key, and of tokens that name it. */
export const agentHolder = (agentId: number): string => `agent:${agentId}`
export const urlHolder = (name: string): string => `url:${nameKey(name)}`

const processPrefix = 'process:'

/** A holder that is no process of this machine counts as gone after so long without an open stream or call (bus.name.silent). */
const silentMs = 60_000

/** A process of this machine can be looked for; anything else is known only by when it was heard of last, or if it waits. */
async function isAlive(tx: Tx, agentId: number, { holder, seen_at }: HolderRow, now: number): Promise<boolean> {
  const running = holder.startsWith(processPrefix) ? isRunning(holder.slice(processPrefix.length)) : undefined
  return running ?? (now - seen_at < silentMs || (await isWaiting(tx, agentId, now)))
}

/** The agent whose name it is. */
interface Named {
  readonly id: number
  readonly projectId: number
  readonly name: string
}

/** Makes `holder` the one who acts as `agent`, and returns the token that lets another one take over. */
export async function holdName(
  hub: Hub,
  tx: Tx,
  { agent, holder, token }: { agent: Named; holder: string; token: string | undefined },
): Promise<string> {
  const now = hub.clock.now()
  const fresh = hub.ids.token()
  const current = await lockHolder(tx, agent.id, { holder, reclaim_token: fresh, seen_at: now })
  // The name on a URL can be written by anybody: whoever has the key takes it over.
  const mine =
    current.holder === holder || (holder === agentHolder(agent.id) && current.holder === urlHolder(agent.name))
  const alive = mine || (await isAlive(tx, agent.id, current, now))
  if (!mine && alive && current.reclaim_token !== token)
    throw new HubError('AGENT_NAME_IN_USE', `Somebody else takes part as ${JSON.stringify(agent.name)} right now.`, {
      hint: `Join under another name, for example ${(await freeNames(tx, agent)).join(' or ')}; or bring the token that the first join returned. ${whenFree(current, now)}`,
    })
  const reclaimToken = mine || current.reclaim_token === token ? current.reclaim_token : fresh
  await updateHolder(tx, agent.id, { holder, reclaim_token: reclaimToken, seen_at: now })
  // Only this name: a holder that is gone keeps its other names until somebody asks for them.
  if (!alive) await deleteJoins(tx, current.holder, agent.id)
  return reclaimToken
}

function whenFree({ holder, seen_at }: HolderRow, now: number): string {
  if (holder.startsWith(processPrefix)) return 'The name is free once that process ends.'
  const left = Math.max(1, Math.ceil((seen_at + silentMs - now) / 1000))
  return `The name is free when that session ends, or ${left} s from now, if none of its streams and calls is open until then.`
}

async function freeNames(tx: Tx, { name, projectId }: Named): Promise<string[]> {
  const free: string[] = []
  for (let n = 2; free.length < 2; n++) {
    const candidate = `${[...name].slice(0, limits.busNameLength - 4).join('')}-${n}`
    if ((await findAgent(tx, projectId, nameKey(candidate))) === undefined) free.push(JSON.stringify(candidate))
  }
  return free
}

/** Sessions with an open stream or call keep their names. Most have none: then nothing is written. */
export async function keepNames(hub: Hub, nonces: readonly string[]): Promise<void> {
  if (nonces.length === 0) return
  const agentIds = await listHeldBy(reader(hub), nonces.map(sessionHolder))
  if (agentIds.length > 0) await commit(hub, itself, (tx) => updateHoldersSeen(tx, agentIds, hub.clock.now()))
}

/** A process or session that ends frees its names. */
export async function releaseNames(hub: Hub, caller: Caller, holder: string): Promise<void> {
  await commit(hub, { key: caller.key }, (tx) => deleteHolder(tx, holder))
}
