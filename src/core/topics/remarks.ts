/** Remarks: messages to a topic from somebody who takes no part in it. */
import { lockTopic } from '../../store/topic-care.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { type Outgoing, type Said, say } from './saying.ts'
import { type Topic, topicNotFound } from './topics.ts'

/** Holds no name and moves no cursor: a peer of the same name goes on undisturbed. */
export async function remark(
  hub: Hub,
  acting: Acting,
  { topic: { uid }, outgoing }: { topic: Topic; outgoing: Outgoing },
): Promise<Said> {
  const sender = await actAs(hub, acting)
  return commit(hub, acting.caller, async (tx, note) => {
    const topic = await lockTopic(tx, sender.projectId, uid)
    if (topic === undefined) throw topicNotFound(uid)
    const [said] = await say(hub, tx, { topic, sender, outbox: [outgoing], note })
    return said as Said
  })
}
