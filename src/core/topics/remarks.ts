/** Remarks: messages to a topic from somebody who takes no part in it. */
import type { Tx } from '../../db/port.ts'
import { listGranters } from '../../store/threads/grants.ts'
import type { TopicRow } from '../../store/threads/threads.ts'
import { lockTopic } from '../../store/topics/topic-admin.ts'
import { type Acting, actIn, findActor } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { type Outgoing, type Said, say } from './saying.ts'
import { type Topic, topicNotFound } from './topics.ts'

/** Holds no name and moves no cursor: a peer of the same name goes on undisturbed. */
export async function remark(
  hub: Hub,
  acting: Acting,
  { topic: { uid, projectId }, outgoing }: { topic: Pick<Topic, 'uid' | 'projectId'>; outgoing: Outgoing },
): Promise<Said> {
  const { caller } = acting
  const actor = await findActor(hub, acting)
  return commit(hub, caller, async (tx, note) => {
    const sender = await actIn(hub, { tx, note, caller }, actor)
    const topic = await lockTopic(tx, projectId, uid)
    if (topic === undefined || !(await mayRemark(hub, tx, sender, topic))) throw topicNotFound(uid)
    const [said] = await say(hub, tx, { topic, sender, outbox: [outgoing], note })
    return said as Said
  })
}

/** In the topics of another project only those who were granted to write (hub.grant.write). */
async function mayRemark(hub: Hub, tx: Tx, sender: Agent, { id: threadId, project_id }: TopicRow): Promise<boolean> {
  if (sender.projectId === project_id) return true
  const grants = await listGranters(tx, { threadId, agentId: sender.id, now: hub.clock.now() })
  return grants.some(({ can }) => can === 'write')
}
