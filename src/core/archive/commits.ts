/** The commits of mail, profiles and leases, for those who may see what they are about. */
import { nameKey } from '../../base/names.ts'
import { findProfile } from '../../store/agents/profiles.ts'
import { listSeenMail } from '../../store/exports/archive.ts'
import { listAgentLeases } from '../../store/leases.ts'
import type { Caller } from '../access/callers.ts'
import { sightOf } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { noAgent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Received } from '../mail/inbox.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'

export interface Committed {
  readonly sha: string
  readonly at: number
  readonly summary: string
  readonly author: string
}

/** The names of the commits of received mail, by message: none for a blind copy, or what is not archived yet (mail.archive.blind-commits). */
export async function findCommits(
  hub: Hub,
  acting: Acting,
  messages: readonly Received[],
): Promise<ReadonlyMap<number, string>> {
  const { projectId } = await actAs(hub, acting)
  const ids = messages.filter(({ kind }) => kind !== 'bcc').map(({ id }) => id)
  return hub.archive?.find(await slugOfProject(hub, projectId), 'messages', ids) ?? new Map()
}

/** The same with what the commits say. */
export async function describeCommits(
  hub: Hub,
  acting: Acting,
  messages: readonly Received[],
): Promise<ReadonlyMap<number, Committed>> {
  const { projectId } = await actAs(hub, acting)
  const found = await findCommits(hub, acting, messages)
  const facts = (await hub.archive?.describe(await slugOfProject(hub, projectId), [...found.values()])) ?? []
  const bySha = new Map(facts.map((fact) => [fact.sha, fact]))
  return new Map([...found].flatMap(([id, sha]) => (bySha.has(sha) ? [[id, bySha.get(sha) as Committed]] : [])))
}

/** Commits of an agent's own acts and open mail lately, as far as the caller may see them; the newest first. */
export async function listRecentCommits(
  hub: Hub,
  caller: Caller,
  project: string,
  { name, limit }: { name: string; limit: number },
): Promise<Committed[]> {
  const home = await needProject(hub, caller, project)
  const { id: projectId, slug } = home
  const agent = await findProfile(reader(hub), projectId, nameKey(name))
  if (agent === undefined) throw await noAgent(hub, caller, { home, name })
  if (hub.archive === undefined) return []
  const mail = await listSeenMail(reader(hub), { agentId: agent.id, sight: sightOf(caller, projectId), limit })
  const leases = await listAgentLeases(reader(hub), agent.id, limit)
  const shas = [
    ...hub.archive.find(slug, 'messages', mail).values(),
    ...hub.archive.find(slug, 'leases', leases).values(),
    ...hub.archive.find(slug, 'agents', [agent.id]).values(),
  ]
  return (await hub.archive.describe(slug, shas)).sort((one, other) => other.at - one.at).slice(0, limit)
}
