/** The agents of a project as the hub shows them: when each was active, and whether the one who looks can reach it. */
import { nameKey } from '../../base/names.ts'
import { listContactsBetween } from '../../store/contacts/contacts.ts'
import type { Agent } from '../agents/agents.ts'
import { type Profile, pageAgents, whois } from '../agents/profiles.ts'
import { linksOf } from '../contacts/standing.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type HubCaller, hubReaderOf } from './hub-readers.ts'

export interface Listed {
  readonly name: string
  readonly status: 'active' | 'idle' | 'unseen'
  readonly reachable: boolean
  readonly activeAt: number | undefined
  /** Whether it is the one who looks. */
  readonly self: boolean
}

/** An agent counts as active for this long after its last call. */
const activeMs = 15 * 60_000

export async function listDirectory(
  hub: Hub,
  hubCaller: HubCaller,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ agents: Listed[]; next: string | undefined }> {
  const { project, agent } = await hubReaderOf(hub, hubCaller)
  const { agents, next } = await pageAgents(hub, hubCaller.caller, project.slug, { after, limit })
  return { agents: await describe(hub, agent, agents), next }
}

export async function findListed(hub: Hub, hubCaller: HubCaller, name: string): Promise<Listed> {
  const { project, agent } = await hubReaderOf(hub, hubCaller)
  const [listed] = await describe(hub, agent, [await whois(hub, hubCaller.caller, project.slug, name)])
  return listed as Listed
}

async function describe(hub: Hub, self: Agent | undefined, profiles: readonly Profile[]): Promise<Listed[]> {
  const now = hub.clock.now()
  const choosy = profiles.filter(({ contactPolicy }) => contactPolicy === 'contacts_only').map(({ id }) => id)
  const links =
    self === undefined || choosy.length === 0
      ? new Map()
      : linksOf(self, await listContactsBetween(reader(hub), self.id, choosy), { now, policyOf: () => 'contacts_only' })
  const reaches = ({ id, contactPolicy }: Profile): boolean => {
    if (id === self?.id || !hub.rules.contacts.enforced) return true
    if (contactPolicy === 'contacts_only') return links.get(id)?.standing === 'approved'
    return contactPolicy !== 'block_all'
  }
  return profiles.map((profile) => ({
    name: profile.name,
    status: profile.activeAt === 0 ? 'unseen' : now - profile.activeAt < activeMs ? 'active' : 'idle',
    reachable: reaches(profile),
    activeAt: profile.activeAt === 0 ? undefined : profile.activeAt,
    self: self !== undefined && nameKey(profile.name) === nameKey(self.name),
  }))
}
