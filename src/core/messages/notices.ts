/** Notices of Parley itself: signed with its own name, they stand in the thread that they are about, and no route pushes them. */
import { hubName, nameKey } from '../../base/names.ts'
import type { Tx } from '../../db/port.ts'
import { findAgent, insertAgent } from '../../store/agents/agents.ts'
import { noticeKind } from '../../store/mail/conversations.ts'
import { insertTold } from '../../store/mail/endings.ts'
import { findLoopThread, insertReadDeliveries } from '../../store/messages/loops.ts'
import { insertMail } from '../../store/messages/sending.ts'
import { type Agent, mailChannel } from '../agents/agents.ts'
import type { Note } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { threadChannel } from './placing.ts'
import { guestsOf } from './recipients.ts'

interface Notice {
  readonly threadId: number
  /** The project in which Parley signs it. */
  readonly projectId: number
  readonly to: readonly Agent[]
  readonly subject: string
  readonly body: string
  readonly replyTo?: number
  /** Whether it waits in the mailboxes until it is read; else it is read from the start, and in no count. */
  readonly unread: boolean
}

/** A full mailbox takes no unread one: the message itself shows what became of it. */
export async function putNotice(hub: Hub, tx: Tx, note: Note, notice: Notice): Promise<void> {
  const { threadId, projectId, to, subject, body, replyTo, unread } = notice
  const now = hub.clock.now()
  const sender = await parleyOf(tx, note, projectId, now)
  const recipients = to.map((agent) => ({ agent, kind: 'to' as const }))
  const home = (await findLoopThread(tx, threadId))?.project_id ?? projectId
  const delivered = { to: to.map(({ id }) => ({ id, kind: 'to' as const })), terms: { limit: hub.limits.mailboxDepth } }
  const [placed] = await insertMail(tx, [
    {
      message: { uid: hub.ids.uuid(), senderId: sender.id, kind: noticeKind, subject, body, replyTo, now },
      threadId,
      projectId,
      guests: guestsOf(sender, recipients, home),
      ...(unread && delivered),
    },
  ])
  if (placed === undefined) return
  const { messageId } = placed
  const ids = to.map(({ id }) => id)
  if (unread) for (const agentId of ids) await insertTold(tx, { messageId, agentId, now })
  else await insertReadDeliveries(tx, { messageId, to: ids, now })
  const wakes = [threadChannel(threadId), ...(unread ? ids.map(mailChannel) : [])]
  note({ kind: 'message.sent', projectId, agentId: sender.id, threadId, messageId, wakes })
}

/** Never active, and open to nobody: no list of who is there has it, and no answer reaches it. */
async function parleyOf(tx: Tx, note: Note, projectId: number, now: number): Promise<Agent> {
  const found = await findAgent(tx, projectId, nameKey(hubName))
  const own = { projectId, name: hubName, nameKey: nameKey(hubName), program: 'parley', model: 'none' }
  const { id } = found ?? (await insertAgent(tx, { ...own, policy: 'block_all', activeAt: 0, now }))
  if (found === undefined) note({ kind: 'agent.created', projectId, agentId: id })
  return { id, projectId, name: hubName }
}
