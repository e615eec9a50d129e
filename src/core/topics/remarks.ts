/** Remarks: messages to a topic from somebody who takes no part in it. */
import { lockTopic } from '../../store/topic-care.ts'
import { type Acting, actIn, findActor } from '../agents/acting.ts'
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
  const { caller } = acting
  const actor = await findActor(hub, acting)
  return commit(hub, caller, async (tx, note) => {
    const sender = await actIn(hub, { tx, note, caller }, actor)
    const topic = await lockTopic(tx, sender.projectId, uid)
    if (topic === undefined) throw topicNotFound(uid)
    const [said] = await say(hub, tx, { topic, sender, outbox: [outgoing], note })
    return said as Said
  })
}
