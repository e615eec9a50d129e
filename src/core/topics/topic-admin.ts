/** Looking after topics: finding one as people name it, seeing how much is in each, giving it another name. */
import { HubError } from '../../base/errors.ts'
import { nameKey } from '../../base/names.ts'
import { lockProject } from '../../store/projects.ts'
import { findTopic, findTopicNamed } from '../../store/threads/threads.ts'
import { listTopicSummaries, lockTopic, type TopicSummaryRow, updateName } from '../../store/topics/topic-admin.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { threadChannel } from '../messages/placing.ts'
import { needProject } from '../projects/projects.ts'
import { type Topic, topicNotFound, toTopic } from './topics.ts'

export interface TopicSummary extends Topic {
  readonly messages: number
  /** How many have joined it. */
  readonly peers: number
  /** When its newest message was written, or it was made. */
  readonly activeAt: number
}

const toSummary = (row: TopicSummaryRow): TopicSummary => ({
  ...toTopic(row),
  messages: row.next_seq - 1,
  peers: row.peers,
  activeAt: row.last_at ?? row.created_at,
})

/** The one with the latest activity first. */
export async function summarizeTopics(
  hub: Hub,
  caller: Caller,
  project: string,
  status: 'open' | 'closed' | 'all',
): Promise<TopicSummary[]> {
  const { id: projectId } = await needProject(hub, caller, project)
  const rows = await listTopicSummaries(reader(hub), { projectId, status: status === 'all' ? undefined : status })
  return rows.map(toSummary)
}

/** By uid or by name; by name, the newest open one before a closed one. */
export async function needTopicCalled(
  hub: Hub,
  caller: Caller,
  project: string,
  uidOrName: string,
): Promise<TopicSummary> {
  const { id: projectId } = await needProject(hub, caller, project)
  const found =
    (await findTopic(reader(hub), projectId, uidOrName)) ??
    (await findTopicNamed(reader(hub), projectId, nameKey(uidOrName.trim())))
  const [row] = found === undefined ? [] : await listTopicSummaries(reader(hub), { projectId, id: found.id })
  if (row === undefined) throw topicNotFound(JSON.stringify(uidOrName))
  return toSummary(row)
}

/** Two open topics of one name can be made on purpose, but not by renaming: one of them could no longer be found. */
export async function renameTopic(hub: Hub, caller: Caller, { projectId, uid }: Topic, name: string): Promise<Topic> {
  needSteering(caller)
  return commit(hub, caller, async (tx, note) => {
    await lockProject(tx, projectId)
    const topic = await lockTopic(tx, projectId, uid)
    if (topic === undefined) throw topicNotFound(uid)
    const { id } = topic
    const other = await findTopicNamed(tx, projectId, nameKey(name))
    if (other !== undefined && other.status === 'open' && other.id !== id)
      throw new HubError(
        'INVALID_ARGUMENT',
        `Another open topic is called ${JSON.stringify(other.name)}: ${other.uid}.`,
        {
          hint: 'Nothing was changed. Choose another name, or rename that one first.',
        },
      )
    await updateName(tx, { id, name, nameKey: nameKey(name) })
    note({ kind: 'topic.renamed', projectId, threadId: id, wakes: [threadChannel(id)] })
    return toTopic({ ...topic, name })
  })
}
