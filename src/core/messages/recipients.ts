/** The recipients of a message: names and addresses made into agents. */
import { HubError } from '../../base/errors.ts'
import { nameKey } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import type { DeliveryKind } from '../../store/deliveries.ts'
import type { Acting } from '../agents/acting.ts'
import { type Agent, findIn, isNewcomer, makeAgent, type Newcomer } from '../agents/agents.ts'
import { findContactElsewhere } from '../contacts/judging.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { findProjectElsewhere, isNew, needProject } from '../projects/projects.ts'

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

/** A recipient that exists, or one that the send makes. */
export interface Addressee {
  readonly agent: Agent | Newcomer
  readonly kind: DeliveryKind
}

interface Resolving {
  readonly acting: Acting
  readonly sender: Agent | Newcomer
  readonly addresses: readonly Address[]
}

/** Each agent once: of two mentions the first decides. Unknown names that may not be made are told all at once. */
export async function resolve(hub: Hub, { acting, sender, addresses }: Resolving): Promise<Addressee[]> {
  const found: { address: Address; agent: Agent | undefined }[] = []
  for (const address of addresses) found.push({ address, agent: await find(hub, { acting, sender }, address) })
  const unknown = found.filter(({ agent, address }) => agent === undefined && !mayBeMade(hub, acting, address))
  if (unknown.length > 0) {
    const names = unknown.map(({ address: { name, project } }) => (project === undefined ? name : `${name}@${project}`))
    const told = names.map((name) => JSON.stringify(name)).join(', ')
    throw new HubError('AGENT_NOT_FOUND', `Nothing was sent: nobody is called ${told}.`)
  }
  const once = new Map<number | string, Addressee>()
  for (const { address, agent } of found) {
    const key = agent === undefined ? nameKey(address.name) : agent.id
    if (once.has(key)) continue
    once.set(key, { agent: agent ?? (await newcomer(hub, { acting, sender }, address)), kind: address.kind ?? 'to' })
  }
  return [...once.values()]
}

/** At home in the sender's project, and with the policy that agents of its door start with. */
const newcomer = async (
  hub: Hub,
  { acting, sender }: Pick<Resolving, 'acting' | 'sender'>,
  { name }: Address,
): Promise<Newcomer> => ({
  place: isNewcomer(sender) ? sender.place : await needProject(hub, acting.caller, acting.project),
  name,
  policy: acting.registered ? 'auto' : 'open',
})

/** In the transaction of the send: one that is refused leaves no new agent behind (all.calls.nothing-made). */
export async function makeRecipients(
  hub: Hub,
  { tx, note }: { tx: Tx; note: Note },
  addressees: readonly Addressee[],
): Promise<Recipient[]> {
  const recipients: Recipient[] = []
  for (const { agent, kind } of addressees) {
    if (!isNewcomer(agent)) recipients.push({ agent, kind })
    else {
      const { id, project_id: projectId, name } = await makeAgent(hub, tx, note, agent)
      recipients.push({ agent: { id, projectId, name }, kind })
    }
  }
  return recipients
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
  // A new agent has no contacts, and in a new project there is nobody.
  if (isNewcomer(sender)) return isNew(sender.place) ? undefined : findIn(hub, sender.place.id, name)
  return (await findIn(hub, sender.projectId, name)) ?? (await findContactElsewhere(hub, sender, name))
}

const mayBeMade = (hub: Hub, { registered }: Acting, { project }: Address): boolean =>
  project === undefined && (!registered || hub.rules.makeRecipients)
