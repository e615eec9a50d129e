/** The recipients of a message: names and addresses made into agents. */
import { HubError } from '../../base/errors.ts'
import type { DeliveryKind } from '../../store/deliveries.ts'
import type { Acting } from '../agents/acting.ts'
import { type Agent, ensureAgent, findIn } from '../agents/agents.ts'
import { findContactElsewhere } from '../contacts/judging.ts'
import type { Hub } from '../hub/hub.ts'
import { findProjectElsewhere } from '../projects/projects.ts'

export interface Address {
  readonly name: string
  /** Another project than the sender's: its slug or key. */
  readonly project?: string | undefined
  readonly kind?: DeliveryKind
}

export interface Recipient {
  readonly agent: Agent
  readonly kind: DeliveryKind
}

interface Resolving {
  readonly acting: Acting
  readonly sender: Agent
  readonly addresses: readonly Address[]
}

/**
 * Each agent once: of two mentions the first decides. Unknown names are told all at once, and new agents are made only
 * when all other names are known: a refused send leaves nothing behind.
 */
export async function resolve(hub: Hub, { acting, sender, addresses }: Resolving): Promise<Recipient[]> {
  const found: { address: Address; agent: Agent | undefined }[] = []
  for (const address of addresses) found.push({ address, agent: await find(hub, { acting, sender }, address) })
  const unknown = found.filter(({ agent, address }) => agent === undefined && !mayBeMade(hub, acting, address))
  if (unknown.length > 0) {
    const names = unknown.map(({ address: { name, project } }) => (project === undefined ? name : `${name}@${project}`))
    const told = names.map((name) => JSON.stringify(name)).join(', ')
    throw new HubError('AGENT_NOT_FOUND', `Nothing was sent: nobody is called ${told}.`)
  }
  const byId = new Map<number, Recipient>()
  for (const { address, agent: known } of found) {
    const agent =
      known ??
      (await ensureAgent(hub, acting.caller, {
        project: acting.project,
        name: address.name,
        policy: acting.registered ? 'auto' : 'open',
      }))
    if (!byId.has(agent.id)) byId.set(agent.id, { agent, kind: address.kind ?? 'to' })
  }
  return [...byId.values()]
}

/**
 * A plain name is the agent of this project, else the one approved contact of that name elsewhere
 * (mail.contact.elsewhere), else a new agent of this project (mail.recipient.made), which starts as agents of its door do.
 */
async function find(
  hub: Hub,
  { acting, sender }: Pick<Resolving, 'acting' | 'sender'>,
  { name, project }: Address,
): Promise<Agent | undefined> {
  if (project !== undefined) {
    const there = await findProjectElsewhere(hub, acting.caller, project)
    return there && findIn(hub, there.id, name)
  }
  return (await findIn(hub, sender.projectId, name)) ?? (await findContactElsewhere(hub, sender, name))
}

const mayBeMade = (hub: Hub, { registered }: Acting, { project }: Address): boolean =>
  project === undefined && (!registered || hub.rules.makeRecipients)
