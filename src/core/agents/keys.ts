/** Keys of agents: given, listed, changed, ended. Once an agent has had one, nobody else acts as it. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import type { Tx } from '../../db/port.ts'
import { deleteHoldersOf } from '../../store/agents/holders.ts'
import { deleteKeys, insertKey, type KeyRow, listKeys as listRows, updateKeyed } from '../../store/agents/keys.ts'
import type { Caller } from '../access/callers.ts'
import { hashKey, keyPrefix, newKey } from '../access/keys.ts'
import { mayActAs, needSteering } from '../access/rules.ts'
import { commit, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type Acting, actAs, actIn, findActor, notYours } from './acting.ts'
import { type Agent, isNewcomer, keyChannel, mailChannel, type Newcomer, noteKeyed, refuseName } from './agents.ts'

interface NewKey {
  readonly agent: Agent
  /** Shown once: the hub keeps its hash. */
  readonly key: string
  /** Whether the agent was not there before. */
  readonly created: boolean
}

/**
 * For those who may act as the agent, which need not be there yet (access.keys.newcomer). A key that is there stays good. Names that
 * somebody else holds at a topic are given up, so that the owner can take them.
 */
export async function createKey(hub: Hub, acting: Acting): Promise<NewKey> {
  const actor = await findActor(hub, { ...acting, unnoticed: true })
  if (isNewcomer(actor)) {
    needSteering(acting.caller)
    refuseName(actor.name)
  }
  return giveKey(hub, acting.caller, isNewcomer(actor) ? { ...actor, unseen: true } : actor)
}

/** A new key in place of all that the agent has: those are no longer good. For its owner and the operator. */
export async function rotateKey(hub: Hub, acting: Acting): Promise<NewKey> {
  const agent = await actAs(hub, { ...acting, registered: true, unnoticed: true })
  return giveKey(hub, acting.caller, agent, async (tx) => {
    needOwner(acting.caller, agent)
    await deleteKeys(tx, agent.id)
  })
}

function needOwner(caller: Caller, agent: Agent): void {
  if (!mayActAs(caller, { ...agent, keyed: true })) throw notYours(caller, agent)
}

async function giveKey(
  hub: Hub,
  caller: Caller,
  actor: Agent | Newcomer,
  before: (tx: Tx) => Promise<void> = async () => {},
): Promise<NewKey> {
  const key = newKey(hub)
  const agent = await commit(hub, caller, async (tx, note) => {
    const agent = await actIn(hub, { tx, note, caller }, actor)
    // Of two who give the first key at once, one finds the agent taken.
    const first = await updateKeyed(tx, agent.id)
    if (!first) needOwner(caller, agent)
    if (first) await deleteHoldersOf(tx, agent.id)
    await before(tx)
    await storeKey(hub, { tx, note, agent, key })
    return agent
  })
  noteKeyed(hub, agent)
  return { agent, key, created: isNewcomer(actor) }
}

/** In a transaction that has made sure that the agent is the caller's to give a key to. */
export async function storeKey(
  hub: Hub,
  { tx, note, agent, key }: { tx: Tx; note: Note; agent: Agent; key: string },
): Promise<void> {
  await insertKey(tx, { hash: hashKey(key), prefix: keyPrefix(key), agentId: agent.id, now: hub.clock.now() })
  const wakes = [mailChannel(agent.id), keyChannel(agent.id)]
  note({ kind: 'agent.keyed', projectId: agent.projectId, agentId: agent.id, wakes })
}

/** Ends the keys of an agent, or the one that begins in this way. Nobody but the operator acts as it until it has another. */
export async function revokeKeys(
  hub: Hub,
  acting: Acting,
  prefix?: string,
): Promise<{ agent: Agent; revoked: number }> {
  const agent = await actAs(hub, { ...acting, registered: true, unnoticed: true })
  needOwner(acting.caller, agent)
  const revoked = await commit(hub, acting.caller, async (tx, note) => {
    const ended = await deleteKeys(tx, agent.id, prefix)
    if (ended === 0)
      throw new HubError('NOT_FOUND', `${agent.name} has no ${prefix === undefined ? 'key' : `key ${prefix}…`}.`, {
        hint: 'List the keys to see which there are.',
      })
    const wakes = [keyChannel(agent.id)]
    note({ kind: 'agent.revoked', projectId: agent.projectId, agentId: agent.id, wakes })
    return ended
  })
  return { agent, revoked }
}

export interface Key {
  readonly agent: string
  /** The slug of the agent's project. */
  readonly project: string
  /** How it begins. */
  readonly prefix: string | undefined
  readonly createdAt: number
}

const toKey = ({ agent, project, prefix, created_at }: KeyRow): Key => ({
  agent,
  project,
  prefix: prefix ?? undefined,
  createdAt: created_at,
})

/** The keys of an agent, newest first. */
export async function listKeys(hub: Hub, acting: Acting): Promise<Key[]> {
  const { id } = await actAs(hub, { ...acting, registered: true, unnoticed: true })
  return (await listRows(reader(hub), { agentId: id, limit: limits.listed })).map(toKey)
}

/** The keys of all agents, newest first. */
export async function listAllKeys(
  hub: Hub,
  caller: Caller,
  { limit }: { limit: number },
): Promise<{ keys: Key[]; more: boolean }> {
  needSteering(caller)
  const rows = await listRows(reader(hub), { agentId: undefined, limit: limit + 1 })
  return { keys: rows.slice(0, limit).map(toKey), more: rows.length > limit }
}
