/** Grants on servers of others: the operator lets an agent call their tools, for a time. */
import { HubError } from '../../base/errors.ts'
import { commons } from '../../base/names.ts'
import { deleteBridgeGrant, insertBridgeGrant, listBridgeGrants } from '../../store/remote-tool-grants.ts'
import type { Caller } from '../access/callers.ts'
import { mayOperate } from '../access/rules.ts'
import { needAgent } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { slugOfProject } from '../projects/projects.ts'
import { type HubCaller, hubReaderOf } from '../threads/hub-readers.ts'

interface ServerWish {
  readonly agent: { readonly name: string; readonly project?: string | undefined }
  readonly server: string
  readonly ttlMs: number
}

/** A call is made with the server's own credentials, which are the operator's to lend. */
function needOperator(caller: Caller): void {
  if (mayOperate(caller)) return
  throw new HubError('FORBIDDEN', 'Only the operator can grant agents the tools of other servers.', {
    hint: 'Ask a person who has the operator’s token.',
  })
}

const prefix = 'server-'

/** Whether a grant goes by this id that is on a server. */
export const isServerGrant = (id: string): boolean => id.startsWith(prefix)

export async function grantServer(
  hub: Hub,
  { caller, project }: HubCaller,
  { agent: to, server, ttlMs }: ServerWish,
): Promise<{ id: string; expiresAt: number }> {
  needOperator(caller)
  if (hub.remoteTools?.has(server) !== true)
    throw new HubError('INVALID_ARGUMENT', `There is no remote MCP server ${JSON.stringify(server)}.`, {
      hint: 'BRIDGE_CONFIG names the file that lists them.',
    })
  const { id: agentId, projectId } = await needAgent(hub, caller, to.project ?? project ?? commons, to.name)
  const now = hub.clock.now()
  const [uid, expiresAt] = [`${prefix}${hub.ids.short()}`, now + ttlMs]
  await commit(hub, caller, async (tx, note) => {
    await insertBridgeGrant(tx, { uid, agentId, server, now, expiresAt })
    note({ kind: 'server.granted', projectId, agentId })
  })
  return { id: uid, expiresAt }
}

export interface ServerGrant {
  readonly id: string
  readonly server: string
  readonly agent: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** An agent's own; all of them for the operator. */
export async function listServerGrants(
  hub: Hub,
  hubCaller: HubCaller,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<{ grants: ServerGrant[]; next?: number | undefined }> {
  const { agent, all, project } = await hubReaderOf(hub, hubCaller)
  if (agent === undefined && !all) return { grants: [] }
  const agentId = all ? undefined : agent?.id
  const rows = await listBridgeGrants(reader(hub), { agentId, now: hub.clock.now(), before, limit: limit + 1 })
  const grants: ServerGrant[] = []
  for (const { uid, server, agent: name, agent_project, created_at, expires_at } of rows.slice(0, limit)) {
    const called = agent_project === project.id ? name : `${name}@${await slugOfProject(hub, agent_project)}`
    grants.push({ id: uid, server, agent: called, createdAt: created_at, expiresAt: expires_at })
  }
  return { grants, next: rows.length > limit ? rows[limit - 1]?.id : undefined }
}

export async function revokeServerGrant(hub: Hub, { caller }: HubCaller, id: string): Promise<void> {
  needOperator(caller)
  await commit(hub, caller, async (tx, note) => {
    const grant = await deleteBridgeGrant(tx, id)
    if (grant === undefined) throw new HubError('NOT_FOUND', `There is no grant ${JSON.stringify(id)}.`)
    note({ kind: 'server.revoked', agentId: grant.agent_id })
  })
}
