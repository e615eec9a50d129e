/** The contacts of an agent as it sees them, and its contact policy. */
import { HubError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { listRecipients, updateContactPolicy } from '../../store/agents/agents.ts'
import { listNamedContacts, type NamedContactRow } from '../../store/contacts/contacts.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Agent, type ContactPolicy, findIn } from '../agents/agents.ts'
import { type Profile, whois } from '../agents/profiles.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { findProjectElsewhere, needProject } from '../projects/projects.ts'
import { type Standing, standingOf } from './standing.ts'

export interface Contact {
  readonly id: number
  /** The agent that asked. */
  readonly from: ContactParty
  readonly to: ContactParty
  readonly status: Standing
  readonly reason: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt: number | undefined
}

interface ContactParty {
  readonly name: string
  /** The slug of its project. */
  readonly project: string
}

/** The other of two agents: by its name, and its project where that is not the caller's. */
export interface Other {
  readonly name: string
  readonly project?: string | undefined
}

/**
 * The contacts of an agent, asked for by either side, the latest change first. One that changes between two pages moves
 * to the top: the next page may then repeat contacts, and leaves none out.
 */
export async function listContacts(
  hub: Hub,
  acting: Acting,
  { before, limit = limits.listed }: { before?: number | undefined; limit?: number } = {},
): Promise<{ contacts: (Contact & { direction: Direction })[]; more: boolean }> {
  const agent = await actAs(hub, acting)
  const now = hub.clock.now()
  const rows = await listNamedContacts(reader(hub), { agentId: agent.id, before, limit: limit + 1 })
  const contacts = rows.slice(0, limit).map((row) => ({
    ...toContact(row, now),
    direction: row.from_id === agent.id ? ('outgoing' as const) : ('incoming' as const),
  }))
  return { contacts, more: rows.length > limit }
}

type Direction = 'outgoing' | 'incoming'

export async function setContactPolicy(hub: Hub, acting: Acting, policy: ContactPolicy): Promise<Profile> {
  const agent = await actAs(hub, acting)
  await commit(hub, acting.caller, async (tx, note) => {
    await updateContactPolicy(tx, agent.id, policy)
    note({ kind: 'agent.policy', projectId: agent.projectId, agentId: agent.id })
  })
  return whois(hub, acting.caller, acting.project, agent.name)
}

export async function findPolicy(hub: Hub, { id }: Agent): Promise<ContactPolicy | undefined> {
  const [row] = await listRecipients(reader(hub), [id])
  return row?.contact_policy
}

export const toContact = (row: NamedContactRow, now: number): Contact => ({
  id: row.id,
  from: { name: row.from_name, project: row.from_project },
  to: { name: row.to_name, project: row.to_project },
  status: standingOf(row, now),
  reason: row.reason,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  expiresAt: row.expires_at ?? undefined,
})

/** The other agent of a call: the one that is asked, or the one that asked. */
export async function needOther(
  hub: Hub,
  { caller, project }: Acting,
  other: Other,
  reason: 'no_target' | 'no_asker',
): Promise<Agent> {
  const home = await (other.project === undefined
    ? needProject(hub, caller, project)
    : findProjectElsewhere(hub, caller, other.project))
  const agent = home && (await findIn(hub, home.id, other.name))
  if (agent !== undefined) return agent
  // It repeats only words of the caller: the slug of a foreign project would tell that there is one.
  const where = other.project ?? home?.slug ?? project
  throw new HubError('AGENT_NOT_FOUND', `There is no agent ${JSON.stringify(other.name)} in the project ${where}.`, {
    reason,
    hint: `If ${other.name} is at home in another project than yours, name that one.`,
  })
}
