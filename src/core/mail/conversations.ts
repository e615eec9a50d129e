/** Conversations as an agent sees them: its threads of mail, by their newest message. */
import { moduleBeside } from '../../base/modules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { type Hub, lookLong } from '../hub/hub.ts'
import type { ConversationPage, look } from './conversations-look.ts'
import { needOwn } from './history.ts'

export type { Listed } from './conversations-look.ts'

interface ConversationWish {
  readonly unreadOnly: boolean
  readonly limit: number
  /** Only conversations whose newest message came before this one. */
  readonly before?: string | undefined
}

const everything = Number.MAX_SAFE_INTEGER

const looking = moduleBeside(import.meta.url, 'conversations-look')

/**
 * Newest first. A list of unread ones pages by their newest unread message. It costs a fixed number of statements, and
 * looks through the newest mail only: `next` says where to go on.
 */
export async function listConversations(
  hub: Hub,
  acting: Acting,
  { before, ...wish }: ConversationWish,
): Promise<ConversationPage> {
  const agent = await actAs(hub, acting)
  const below = before === undefined ? everything : (await needOwn(hub, agent, before)).id
  const party = { id: agent.id, projectId: agent.projectId, now: hub.clock.now() }
  return lookLong<typeof look>(hub, looking, { ...wish, party, below })
}
