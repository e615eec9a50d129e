/** Topics: threads with a name, which peers find, join, close and open again. */
import { HubError } from '../../base/errors.ts'
import { nameKey } from '../../base/names.ts'
import { lockProject } from '../../store/projects.ts'
import {
  findTopic,
  findTopicNamed,
  insertTopic,
  listTopics as listRows,
  type TopicRow,
  updateStatus,
} from '../../store/threads/threads.ts'
import type { Caller } from '../access/callers.ts'
import { mayEnter } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { threadChannel } from '../messages/placing.ts'
import { findPlace, isNew, makeProject, needProject } from '../projects/projects.ts'

export interface Topic {
  readonly id: number
  readonly uid: string
  readonly projectId: number
  readonly name: string
  readonly status: 'open' | 'closed'
  readonly createdAt: number
  readonly closedAt: number | undefined
  readonly closeReason: string | undefined
  readonly metadata: Record<string, unknown> | undefined
}

export const toTopic = (row: TopicRow): Topic => ({
  id: row.id,
  uid: row.uid,
  projectId: row.project_id,
  name: row.name,
  status: row.status,
  createdAt: row.created_at,
  closedAt: row.closed_at ?? undefined,
  closeReason: row.close_reason ?? undefined,
  metadata: row.metadata === null ? undefined : (JSON.parse(row.metadata) as Record<string, unknown>),
})

interface TopicMaking {
  readonly name?: string | undefined
  readonly metadata?: Record<string, unknown> | undefined
  /** `reuse` returns the newest open topic of that name, if there is one. */
  readonly mode: 'reuse' | 'new'
}

export async function createTopic(
  hub: Hub,
  caller: Caller,
  project: string,
  { name, metadata, mode }: TopicMaking,
): Promise<Topic> {
  const place = await findPlace(hub, caller, project)
  const uid = hub.ids.short()
  const called = name ?? `topic-${uid}`
  return commit(hub, caller, async (tx, note) => {
    const { id: projectId } = isNew(place) ? await makeProject(hub, tx, note, place) : place
    // Of two calls that make the same name at once, only one may find it free.
    await lockProject(tx, projectId)
    const found =
      mode === 'reuse' && name !== undefined ? await findTopicNamed(tx, projectId, nameKey(name)) : undefined
    if (found?.status === 'open') return toTopic(found)
    const text = metadata === undefined ? undefined : JSON.stringify(metadata)
    const now = hub.clock.now()
    const made = await insertTopic(tx, { uid, projectId, name: called, nameKey: nameKey(called), metadata: text, now })
    note({ kind: 'topic.created', projectId, threadId: made.id })
    return toTopic(made)
  })
}

/** The newest first, at most `limit` of them; those made before a topic, by its uid. */
export async function listTopics(
  hub: Hub,
  caller: Caller,
  project: string,
  { status, before, limit }: { status: 'open' | 'closed' | 'all'; before?: string | undefined; limit: number },
): Promise<{ topics: Topic[]; hasMore: boolean }> {
  const { id: projectId } = await needProject(hub, caller, project)
  const last = before === undefined ? undefined : await needTopic(hub, caller, project, before)
  const rows = await listRows(reader(hub), {
    projectId,
    status: status === 'all' ? undefined : status,
    before: last?.id,
    limit: limit + 1,
  })
  return { topics: rows.slice(0, limit).map(toTopic), hasMore: rows.length > limit }
}

/** By name, the newest open one before a closed one. */
export async function resolveTopic(
  hub: Hub,
  caller: Caller,
  project: string,
  { name, allowClosed }: { name: string; allowClosed: boolean },
): Promise<Topic> {
  const { id: projectId } = await needProject(hub, caller, project)
  const row = await findTopicNamed(reader(hub), projectId, nameKey(name))
  if (row === undefined) throw topicNotFound(JSON.stringify(name))
  // TOPIC_CLOSED is for writers (bus.errors.closed).
  if (row.status === 'closed' && !allowClosed)
    throw new HubError('TOPIC_NOT_FOUND', `There is no open topic ${JSON.stringify(row.name)}; one is closed.`, {
      reason: 'closed_topic',
      hint: 'Open it again, or make a new one.',
    })
  return toTopic(row)
}

export async function needTopic(hub: Hub, caller: Caller, project: string, uid: string): Promise<Topic> {
  const row = await findTopic(reader(hub), (await needProject(hub, caller, project)).id, uid)
  if (row === undefined) throw topicNotFound(uid)
  return toTopic(row)
}

/** Closing again changes nothing and warns: the first time and reason stand (bus.topic.close). */
export async function closeTopic(
  hub: Hub,
  caller: Caller,
  project: string,
  { uid, reason }: { uid: string; reason?: string | undefined },
): Promise<{ topic: Topic; already: boolean }> {
  const topic = await needTopic(hub, caller, project, uid)
  return setStatus(hub, caller, topic, { status: 'closed', closedAt: hub.clock.now(), reason })
}

export async function reopenTopic(
  hub: Hub,
  caller: Caller,
  project: string,
  uid: string,
): Promise<{ topic: Topic; already: boolean }> {
  const topic = await needTopic(hub, caller, project, uid)
  return setStatus(hub, caller, topic, { status: 'open', closedAt: undefined, reason: undefined })
}

async function setStatus(
  hub: Hub,
  caller: Caller,
  { id, uid, projectId }: Topic,
  to: Parameters<typeof updateStatus>[2],
) {
  return commit(hub, caller, async (tx, note) => {
    const changed = await updateStatus(tx, id, to)
    if (changed === undefined) {
      const row = await findTopic(tx, projectId, uid)
      if (row === undefined) throw topicNotFound(uid)
      return { topic: toTopic(row), already: true }
    }
    note({
      kind: to.status === 'open' ? 'topic.reopened' : 'topic.closed',
      projectId,
      threadId: id,
      wakes: [threadChannel(id)],
    })
    return { topic: toTopic(changed), already: false }
  })
}

/** A topic that was found before, by a caller who may not look into its project, answers as a missing one. */
export function enter(caller: Caller, { uid, projectId }: Pick<Topic, 'uid' | 'projectId'>): void {
  if (!mayEnter(caller, projectId)) throw topicNotFound(uid)
}

export const topicNotFound = (what: string): HubError => new HubError('TOPIC_NOT_FOUND', `There is no topic ${what}.`)
