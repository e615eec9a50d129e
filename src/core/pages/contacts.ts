/** The contacts of a project as people see them, with the policy of each agent. */
import { limits } from '../../base/limits.ts'
import { listContactsOf } from '../../store/contacts/contacts.ts'
import type { Caller } from '../access/callers.ts'
import { agentOf } from '../access/rules.ts'
import type { ContactPolicy } from '../agents/agents.ts'
import { listAgents } from '../agents/profiles.ts'
import { type Contact, toContact } from '../contacts/links.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject } from '../projects/projects.ts'

interface ProjectContacts {
  readonly contacts: readonly Contact[]
  /** Whether there are more contacts than these. */
  readonly more: boolean
  readonly policies: readonly { readonly name: string; readonly policy: ContactPolicy }[]
}

/** Pending ones first, then the latest change. An agent sees its own. */
export async function listProjectContacts(hub: Hub, caller: Caller, project: string): Promise<ProjectContacts> {
  const { id: projectId } = await needProject(hub, caller, project)
  const now = hub.clock.now()
  const agentId = agentOf(caller)?.agentId
  const rows = await listContactsOf(reader(hub), { projectId, agentId, limit: limits.listed + 1 })
  const contacts = rows.slice(0, limits.listed).map((row) => toContact(row, now))
  const { agents } = await listAgents(hub, caller, project, { limit: limits.listed })
  return {
    contacts: [
      ...contacts.filter(({ status }) => status === 'pending'),
      ...contacts.filter(({ status }) => status !== 'pending'),
    ],
    more: rows.length > limits.listed,
    policies: agents.map(({ name, contactPolicy }) => ({ name, policy: contactPolicy })),
  }
}
