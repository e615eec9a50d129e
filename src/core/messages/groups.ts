/** Group addresses made into agents: each of a role, one of a role, everybody in the project. */
import { HubError } from '../../base/errors.ts'
import { type Group, groupOf, isGroup } from '../../base/groups.ts'
import { listEverybody, listMembers, listRoles, type MemberRow } from '../../store/agents/roles.ts'
import { activity } from '../agents/activity.ts'
import { type Agent, isNewcomer, type Newcomer } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory } from '../hub/memory.ts'
import { isNew } from '../projects/projects.ts'
import type { Address } from './recipients.ts'

/** For whoever tried to reach everybody by a name. */
export const groupHint =
  'Everybody in the project is all:project; each agent of a role is role:NAME, one of them any:NAME.'

/** Agents, those first who would see a message soonest. */
type Ranking = (hub: Hub, agentIds: readonly number[]) => Promise<readonly number[]>

const ranking = memory(() => ({ rank: (async (_, ids) => ids) as Ranking }))

/** Presence knows who waits, and is a room behind this one: it says how candidates are ranked. */
export function rankBy(hub: Hub, rank: Ranking): void {
  ranking(hub).rank = rank
}

export const ranked = (hub: Hub, agentIds: readonly number[]): Promise<readonly number[]> =>
  ranking(hub).rank(hub, agentIds)

/** An agent that is named, too, is named once: the first mention decides. */
export async function withoutGroups(
  hub: Hub,
  sender: Agent | Newcomer,
  addresses: readonly Address[],
): Promise<readonly Address[]> {
  if (!addresses.some(({ name }) => isGroup(name))) return addresses
  const all: Address[] = []
  // Behind the others: an agent that is named gets the message, whoever takes the shared one.
  const shared: Address[] = []
  for (const address of addresses) {
    const group = groupOf(address.name)
    if (group === undefined || address.project !== undefined) {
      all.push(address)
      continue
    }
    if (group.to === 'any' && shared.length > 0)
      throw new HubError('INVALID_ARGUMENT', 'Nothing was sent: a message may have one any: address.', {
        hint: 'Send one message for each, or use role: to reach every agent of a role.',
      })
    const members = await membersOf(hub, sender, address, group)
    ;(group.to === 'any' ? shared : all).push(...members)
  }
  return [...all, ...shared]
}

async function membersOf(
  hub: Hub,
  sender: Agent | Newcomer,
  { name, kind }: Address,
  group: Group,
): Promise<Address[]> {
  const projectId = isNewcomer(sender) ? (isNew(sender.place) ? undefined : sender.place.id) : sender.projectId
  const most = hub.rules.broadcastMost
  const found = projectId === undefined ? [] : await listGroup(hub, projectId, group, most + 2)
  const others = found.filter(({ id }) => isNewcomer(sender) || id !== sender.id)
  if (others.length === 0) throw await nobody(hub, projectId, name, found.length > 0)
  if (others.length > most)
    throw new HubError('INVALID_ARGUMENT', `Nothing was sent: ${name} has more than ${most} agents.`, {
      hint: 'Write to a role with fewer agents, or ask the operator of Parley to raise BROADCAST_MAX.',
    })
  const how = kind === undefined ? {} : { kind }
  if (group.to !== 'any') return others.map((one) => ({ name: one.name, ...how }))
  const byId = new Map(others.map((one) => [one.id, one.name]))
  const order = await ranked(hub, [...byId.keys()])
  return order.flatMap((id) => {
    const called = byId.get(id)
    return called === undefined ? [] : [{ name: called, ...how, shared: group.role }]
  })
}

const listGroup = (hub: Hub, projectId: number, group: Group, limit: number): Promise<MemberRow[]> =>
  group.to === 'all'
    ? listEverybody(reader(hub), { projectId, active: [...activity(hub).unwritten().keys()], limit })
    : listMembers(reader(hub), { projectId, role: group.role, limit })

const mostRoles = 20

async function nobody(hub: Hub, projectId: number | undefined, name: string, alone: boolean): Promise<HubError> {
  const roles = projectId === undefined ? [] : await listRoles(reader(hub), projectId, mostRoles)
  return new HubError('AGENT_NOT_FOUND', `Nothing was sent: nobody ${alone ? 'else ' : ''}is in ${name}.`, {
    reason: 'no_recipient',
    hint:
      roles.length === 0
        ? 'No agent of this project has a role: agents name theirs when they register.'
        : `Roles here: ${roles.join(', ')}. Agents name theirs when they register.`,
  })
}
