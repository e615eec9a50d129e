/** Grants: a participant lets another agent look into a thread, or write to it, for a time. */
import { HubError } from '../../base/errors.ts'
import {
  deleteExpiredGrants,
  deleteGrant,
  insertGrant,
  listGrants as listRows,
  type Right,
} from '../../store/threads/grants.ts'
import { listThreadsById } from '../../store/threads/hub-threads.ts'
import { findIn } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { threadChannel } from '../messages/placing.ts'
import { findProjectElsewhere } from '../projects/projects.ts'
import { type HubCaller, hubReaderOf, needSeen } from './hub-readers.ts'
import { addressOf } from './hub-threads.ts'

interface GrantWish {
  readonly agent: { readonly name: string; readonly project?: string | undefined }
  readonly thread: string
  readonly can: Right
  readonly ttlMs: number
}

/** A grant shares the granter's own view of the thread: nobody shares messages that it cannot see itself (hub.grant.own-view). */
export async function createGrant(
  hub: Hub,
  hubCaller: HubCaller,
  { agent: to, thread: key, can, ttlMs }: GrantWish,
): Promise<{ id: string; expiresAt: number }> {
  const hubReader = await hubReaderOf(hub, hubCaller)
  const { thread, own } = await needSeen(hub, hubReader, key)
  if (!own)
    throw new HubError('FORBIDDEN', 'Only a participant of a thread can grant others access to it.', {
      reason: 'read_only',
      hint: 'Ask one of its participants.',
    })
  const home =
    to.project === undefined ? hubReader.project : await findProjectElsewhere(hub, hubCaller.caller, to.project)
  const agent = home && (await findIn(hub, home.id, to.name))
  if (agent === undefined)
    throw new HubError('AGENT_NOT_FOUND', `Nobody is called ${JSON.stringify(to.name)}.`, { reason: 'no_agent' })
  const now = hub.clock.now()
  const [uid, expiresAt] = [hub.ids.short(), now + ttlMs]
  const granterId = hubReader.all ? undefined : hubReader.agent?.id
  await commit(hub, hubCaller.caller, async (tx, note) => {
    await deleteExpiredGrants(tx, now)
    await insertGrant(tx, { uid, threadId: thread.id, agentId: agent.id, granterId, can, now, expiresAt })
    note({
      kind: 'grant.created',
      projectId: thread.project_id,
      threadId: thread.id,
      agentId: agent.id,
      wakes: [threadChannel(thread.id)],
    })
  })
  return { id: uid, expiresAt }
}

export interface Grant {
  readonly id: string
  readonly thread: string
  readonly agent: string
  /** None where the operator granted it. */
  readonly by: string | undefined
  readonly can: Right
  readonly createdAt: number
  readonly expiresAt: number
}

/** Grants that an agent gave or got; all of the project for the operator. Expired grants are left out. `next` is where the next page begins. */
export async function listGrants(
  hub: Hub,
  hubCaller: HubCaller,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<{ grants: Grant[]; next?: number | undefined }> {
  const { project, agent, all } = await hubReaderOf(hub, hubCaller)
  if (agent === undefined && !all) return { grants: [] }
  const agentId = all ? undefined : agent?.id
  const wish = { agentId, projectId: project.id, now: hub.clock.now(), before, limit: limit + 1 }
  const rows = await listRows(reader(hub), wish)
  const threads = new Map(
    (
      await listThreadsById(
        reader(hub),
        rows.map(({ thread_id }) => thread_id),
      )
    ).map((row) => [row.id, row.called]),
  )
  const grants: Grant[] = []
  for (const row of rows.slice(0, limit))
    grants.push({
      id: row.uid,
      thread: threads.get(row.thread_id) ?? '',
      agent: await addressOf(hub, project.id, row.agent, row.agent_project),
      by:
        row.granter === null
          ? undefined
          : await addressOf(hub, project.id, row.granter, row.granter_project ?? project.id),
      can: row.can,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    })
  return { grants, next: rows.length > limit ? rows[limit - 1]?.id : undefined }
}

/** By the one who gave it, or the operator. */
export async function revokeGrant(hub: Hub, hubCaller: HubCaller, id: string): Promise<void> {
  const { project, agent, all } = await hubReaderOf(hub, hubCaller)
  const missing = () => new HubError('NOT_FOUND', `You have given no grant ${JSON.stringify(id)}.`)
  if (agent === undefined && !all) throw missing()
  await commit(hub, hubCaller.caller, async (tx, note) => {
    const grant = await deleteGrant(tx, id, all ? undefined : agent?.id)
    if (grant === undefined) throw missing()
    const { thread_id: threadId, agent_id: agentId } = grant
    note({ kind: 'grant.revoked', projectId: project.id, threadId, agentId, wakes: [threadChannel(threadId)] })
  })
}
