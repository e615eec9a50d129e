/** Agents of different owners: registered together with their key, and known by it from then on. */
import { HubError } from '../../base/errors.ts'
import { isReserved, nameKey, overseer } from '../../base/names.ts'
import { findAgent, findOwned, insertAgent, updateOwnerContact } from '../../store/agents/agents.ts'
import { updateKeyed } from '../../store/agents/keys.ts'
import type { Caller } from '../access/callers.ts'
import { newKey } from '../access/keys.ts'
import { agentOf, isAnonymous, needSteering } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { publicIds } from '../hub/public-ids.ts'
import { findPlace, isNew, makeProject, slugOfProject } from '../projects/projects.ts'
import type { Acting } from './acting.ts'
import { known, refuseLookalike, refuseTakenName } from './agents.ts'
import { storeKey } from './keys.ts'

interface Owning {
  /** A path that is new makes a project. */
  readonly project: string
  readonly name: string
  /** How its owner is reached. */
  readonly ownerContact?: string | undefined
}

/** Makes an agent with a key of its own, which takes mail from its contacts only. Any name in use is taken (post.register.taken). */
export async function registerOwned(
  hub: Hub,
  caller: Caller,
  { project, name, ownerContact }: Owning,
): Promise<{ id: string; name: string; key: string }> {
  needSteering(caller)
  if (isReserved(name))
    throw new HubError('INVALID_ARGUMENT', `The name ${overseer} is reserved for people.`, {
      hint: 'Choose another name.',
    })
  const place = await findPlace(hub, caller, project)
  const idOf = await publicIds(hub)
  const key = newKey(hub)
  const row = await commit(hub, caller, async (tx, note) => {
    const { id: projectId } = isNew(place) ? await makeProject(hub, tx, note, place) : place
    if ((await findAgent(tx, projectId, nameKey(name))) !== undefined) throw nameTaken(name)
    refuseTakenName(name)
    await refuseLookalike(tx, projectId, name)
    const now = hub.clock.now()
    const policy = 'contacts_only'
    const made = await insertAgent(tx, { projectId, name, nameKey: nameKey(name), policy, activeAt: now, now })
    await updateKeyed(tx, made.id)
    if (ownerContact !== undefined) await updateOwnerContact(tx, made.id, ownerContact)
    note({ kind: 'agent.created', projectId, agentId: made.id })
    await storeKey(hub, { tx, note, agent: { id: made.id, projectId, name }, key })
    return made
  })
  known(hub, { ...row, keyed: 1 })
  return { id: idOf('agent', row.id), name: row.name, key }
}

const nameTaken = (name: string): HubError =>
  new HubError('AGENT_NAME_IN_USE', `The name ${JSON.stringify(name)} is taken.`, {
    hint: 'Choose another name. An agent that exists is given a key with `parley keys create`.',
  })

/** Whom a key belongs to, by the id of the agent. Agents are never renamed. */
const selves = memory(() => new Map<number, { readonly project: string; readonly name: string }>())

/** The agent that calls with its own key, as the one that it acts as. */
export async function needSelf(hub: Hub, caller: Caller): Promise<Acting> {
  const me = agentOf(caller)
  if (me === undefined)
    throw isAnonymous(caller)
      ? new HubError('UNAUTHENTICATED', 'The key of an agent is needed.', {
          hint: 'Register an agent, and send its key as "X-API-Key" or "Authorization: Bearer".',
        })
      : new HubError('FORBIDDEN', 'This token belongs to no agent: it has no mail of its own.', {
          hint: 'Send the key of an agent, or a signed token that names one.',
        })
  const before = selves(hub).get(me.agentId)
  if (before !== undefined) return { caller, ...before, registered: true }
  const row = await findOwned(reader(hub), me.agentId)
  if (row === undefined) throw new HubError('AGENT_NOT_FOUND', 'The agent of this key no longer exists.')
  const self = { project: await slugOfProject(hub, row.project_id), name: row.name }
  return { caller, ...remember(selves(hub), me.agentId, self), registered: true }
}

interface Self {
  readonly id: string
  readonly name: string
  readonly ownerContact: string | undefined
  readonly createdAt: number
}

/** The agent that a key belongs to, as its owner registered it. */
export async function describeSelf(hub: Hub, caller: Caller): Promise<Self> {
  const { name } = await needSelf(hub, caller)
  const row = await findOwned(reader(hub), agentOf(caller)?.agentId ?? 0)
  const idOf = await publicIds(hub)
  return {
    id: idOf('agent', row?.id ?? 0),
    name,
    ownerContact: row?.owner_contact ?? undefined,
    createdAt: row?.created_at ?? 0,
  }
}
