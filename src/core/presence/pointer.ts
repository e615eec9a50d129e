/** A pointer to mail: which messages there are, never a subject, never a body. */
import { findUnread } from '../../store/agents/agents.ts'
import type { AnnouncedRow } from '../../store/mail/announcements.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { addressFrom } from '../messages/addresses.ts'

interface PointedMessage {
  readonly id: number
  readonly from: string
  readonly thread: string | undefined
  readonly importance: 'low' | 'normal' | 'high' | 'urgent'
  readonly createdAt: number
}

export interface Pointed {
  /** All that the agent has unread, told of or not. */
  readonly unread: number
  readonly messages: readonly PointedMessage[]
}

/**
 * Taken, and not yet told. Whoever has it says what became of it; of one that is lost on the way nobody does, and its messages are free
 * after a while.
 */
export interface Pointer extends Pointed {
  /** It is with the client, and no turn will begin with it. */
  confirm(): Promise<void>
  /** For an answer that never reached its client: the messages are free again. */
  putBack(): Promise<void>
}

export async function pointTo(hub: Hub, agent: Agent, rows: readonly AnnouncedRow[]): Promise<Pointed> {
  const messages: PointedMessage[] = []
  for (const row of rows)
    messages.push({
      id: row.message_id,
      from: await addressFrom(hub, agent, { name: row.sender, projectId: row.sender_project }),
      thread: row.thread ?? undefined,
      importance: row.importance,
      createdAt: row.created_at,
    })
  return { unread: await findUnread(reader(hub), agent.id), messages }
}
