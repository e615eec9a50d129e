/** The recipients of a message: names and addresses made into agents. */
import { HubError } from '../../base/errors.ts'
import { isBroadcast, nameKey } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import type { DeliveryKind } from '../../store/messages/deliveries.ts'
import type { Found } from '../../store/messages/sending.ts'
import type { Acting } from '../agents/acting.ts'
import { type Agent, findIn, isNewcomer, makeAgent, type Newcomer } from '../agents/agents.ts'
import { findNear } from '../agents/near.ts'
import { listActiveOthers } from '../agents/profiles.ts'
import { isUnseen } from '../agents/seen.ts'
import { findContactElsewhere } from '../contacts/judging.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { findProjectElsewhere, isNew, needProject } from '../projects/projects.ts'
import { groupHint, withoutGroups } from './groups.ts'

export interface Address {
  readonly name: string
  /** Another project than the sender's: its slug or key. */
  readonly project?: string | undefined
  readonly kind?: DeliveryKind
  /** One of several that a message is shared among: the first that passes gets it (mail.group.any). */
  readonly shared?: string | undefined
}

export interface Recipient {
  readonly agent: Agent
  readonly kind: DeliveryKind
  /** Nobody had the name: the agent was made for this message. */
  readonly made?: true
  /** Somebody made it by writing to it, and nobody has acted under its name since (mail.recipient.unseen). */
  readonly unseen?: true
  /** As the send found it; unknown of a retry, and where it would have taken another statement. */
  readonly found?: Found | undefined
  /** The role by which it came to this agent or to another of that role. */
  readonly shared?: string | undefined
}

/** A recipient that exists, or one that the send makes. */
export interface Addressee extends Pick<Recipient, 'kind' | 'made' | 'unseen' | 'shared'> {
  readonly agent: Agent | Newcomer
}

interface Resolving {
  readonly acting: Acting
  readonly sender: Agent | Newcomer
  readonly addresses: readonly Address[]
}

/** Each agent once: of two mentions the first decides. Unknown names that may not be made are told all at once. */
export async function resolve(hub: Hub, { acting, sender, addresses: named }: Resolving): Promise<Addressee[]> {
  await refuseBroadcast(hub, { acting, sender, addresses: named })
  const addresses = await withoutGroups(hub, sender, named)
  const found: { address: Address; agent: Agent | undefined }[] = []
  for (const address of addresses) found.push({ address, agent: await findRecipient(hub, { acting, sender }, address) })
  const unknown = found.filter(({ agent, address }) => agent === undefined && !mayBeMade(hub, acting, address))
  if (unknown.length > 0) {
    const names = unknown.map(({ address: { name, project } }) => (project === undefined ? name : `${name}@${project}`))
    const told = names.map((name) => JSON.stringify(name)).join(', ')
    const near = new Set<string>()
    for (const { address } of unknown.filter(({ address }) => address.project === undefined).slice(0, mostGuessed))
      if (!isNewcomer(sender))
        for (const name of await findNear(hub, acting.caller, { ...sender, name: address.name })) near.add(name)
    throw new HubError('AGENT_NOT_FOUND', `Nothing was sent: nobody is called ${told}.`, {
      reason: 'no_recipient',
      hint: `${near.size > 0 ? `Did you mean ${[...near].join(', ')}? ` : ''}Send to agents that exist.`,
    })
  }
  const once = new Map<number | string, Addressee>()
  for (const { address, agent } of found) {
    const { kind = 'to' } = address
    const key = agent === undefined ? nameKey(address.name) : agent.id
    if (once.has(key)) continue
    const made = acting.registered && { made: true as const }
    const unseen = acting.registered && agent && (await isUnseen(hub, agent)) && { unseen: true as const }
    once.set(
      key,
      agent
        ? { agent, kind, ...unseen, ...(address.shared && { shared: address.shared }) }
        : { agent: await newcomer(hub, { acting, sender }, address), kind, ...made },
    )
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
  unseen: true,
})

/** In the transaction of the send: one that is refused leaves no new agent behind (all.calls.nothing-made). */
export async function makeRecipients(
  hub: Hub,
  { tx, note }: { tx: Tx; note: Note },
  addressees: readonly Addressee[],
): Promise<Recipient[]> {
  const recipients: Recipient[] = []
  for (const { agent, ...how } of addressees) {
    if (!isNewcomer(agent)) recipients.push({ agent, ...how })
    else {
      const { id, project_id: projectId, name } = await makeAgent(hub, tx, note, agent)
      recipients.push({ agent: { id, projectId, name }, ...how })
    }
  }
  return recipients
}

/**
 * A plain name is the agent of this project, else the one approved contact of that name elsewhere
 * (mail.contact.elsewhere), else a new agent of this project (mail.recipient.made), which starts as agents of its door do.
 */
export async function findRecipient(
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

export async function refuseBroadcast(hub: Hub, { acting, sender, addresses }: Resolving): Promise<void> {
  const all = addresses.find(({ name }) => isBroadcast(name))
  if (all === undefined) return
  // In a project that is not there yet nobody is active.
  const nobody = isNewcomer(sender) && isNew(sender.place)
  const others = nobody ? [] : await listActiveOthers(hub, acting.caller, acting.project, sender)
  const names = others.map(({ name }) => name).join(', ')
  throw new HubError(
    'INVALID_ARGUMENT',
    `Nothing was sent: ${JSON.stringify(all.name)} is not an agent, and there is no broadcast.`,
    {
      reason: 'no_broadcast',
      hint:
        names === ''
          ? 'Nobody else is active in this project.'
          : `Name each recipient. Active agents: ${names}. ${groupHint}`,
    },
  )
}

/** For how many wrong names of one message the nearest are looked for. */
export const mostGuessed = 3

const mayBeMade = (hub: Hub, { registered }: Acting, { project }: Address): boolean =>
  project === undefined && (!registered || hub.rules.makeRecipients)

/** The projects that see a message though its thread is not theirs: the sender's, and those it openly goes to. */
export function guestsOf(sender: Agent, passed: readonly Recipient[], home: number): number[] {
  const open = passed.filter(({ kind }) => kind !== 'bcc').map(({ agent }) => agent.projectId)
  return [...new Set([sender.projectId, ...open])].filter((projectId) => projectId !== home)
}
