/** Whom a message goes to: names and addresses made into agents. */
import { HubError } from '../base/errors.ts'
import type { DeliveryKind } from '../store/deliveries.ts'
import { type Acting, type Agent, ensureAgent, findIn } from './agents.ts'
import { findContactElsewhere } from './contacts.ts'
import type { Hub } from './hub.ts'
import { needProject } from './projects.ts'

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

/** Each agent once: who is named twice gets the message as the first way says. Unknown names are told all at once. */
export async function resolve(hub: Hub, { acting, sender, addresses }: Resolving): Promise<Recipient[]> {
  const byId = new Map<number, Recipient>()
  const unknown: string[] = []
  for (const { name, project, kind = 'to' } of addresses) {
    const agent =
      project === undefined
        ? await here(hub, acting, sender, name)
        : await findIn(hub, (await needProject(hub, project)).id, name)
    if (agent === undefined) unknown.push(project === undefined ? name : `${name}@${project}`)
    else if (!byId.has(agent.id)) byId.set(agent.id, { agent, kind })
  }
  if (unknown.length === 0) return [...byId.values()]
  throw new HubError(
    'AGENT_NOT_FOUND',
    `Nothing was sent: nobody is called ${unknown.map((name) => JSON.stringify(name)).join(', ')}.`,
  )
}

/**
 * A plain name is the agent of this project, else the one approved contact of that name elsewhere, else a new agent of
 * this project (DECISIONS, mail.md 5), which starts as agents of its door do.
 */
async function here(hub: Hub, acting: Acting, sender: Agent, name: string): Promise<Agent | undefined> {
  const found = (await findIn(hub, sender.projectId, name)) ?? (await findContactElsewhere(hub, sender, name))
  if (found !== undefined) return found
  if (!acting.registered) return ensureAgent(hub, acting.project, name, 'open')
  return hub.rules.makeRecipients ? ensureAgent(hub, acting.project, name, 'auto') : undefined
}
