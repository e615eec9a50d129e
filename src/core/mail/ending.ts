/** Mail that leaves its mailbox unread: it is counted out, and its sender is told once, in one transaction. */
import { limits } from '../../base/limits.ts'
import type { Tx } from '../../db/port.ts'
import { updateUnread } from '../../store/agents/agents.ts'
import { lockAgents } from '../../store/contacts/connections.ts'
import { type EndedMessageRow, type EndingRow, findEndedMessage, updateEnded } from '../../store/mail/endings.ts'
import { lockThread } from '../../store/threads/mail-threads.ts'
import { commit, itself } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { putNotice } from '../messages/notices.ts'

interface Ended {
  readonly how: 'expired' | 'dead'
  /** The deliveries that end now; asked in the transaction. */
  list(tx: Tx, now: number): Promise<readonly EndingRow[]>
  /** The words for its sender: `to` names the recipients, and `message` tells how to find it. */
  notice(about: { readonly message: string; readonly to: string; readonly seconds: number }): {
    readonly subject: string
    readonly body: string
  }
}

/** False where nothing could be done: others hold its rows, or it has ended already. */
export async function endUnread(hub: Hub, messageId: number, { how, list, notice }: Ended): Promise<boolean> {
  const message = await findEndedMessage(reader(hub), messageId)
  if (message === undefined) return false
  return commit(hub, itself, async (tx, note) => {
    const now = hub.clock.now()
    // The thread first, then agents by their ids, as every send locks them; deliveries that are locked are passed over.
    await lockThread(tx, message.thread_id)
    const ending = await list(tx, now)
    if (ending.length === 0) return false
    await lockAgents(tx, [...new Set([message.sender_id, ...ending.map(({ recipient_id }) => recipient_id)])])
    for (const { id, recipient_id: agentId, project_id: projectId } of ending) {
      updateEnded(tx, { id, now, ended: how })
      updateUnread(tx, agentId, -1)
      note({ kind: how === 'expired' ? 'mail.expired' : 'mail.dead', projectId, agentId, messageId })
    }
    const { subject, body } = notice(aboutOf(message, ending, now))
    await putNotice(hub, tx, note, {
      threadId: message.thread_id,
      projectId: message.sender_project,
      to: [{ id: message.sender_id, projectId: message.sender_project, name: message.sender }],
      replyTo: message.id,
      subject: shortened(`${subject}: ${message.subject ?? `message ${message.called}`}`),
      body,
      unread: true,
    })
    return true
  })
}

const shortened = (subject: string): string =>
  subject.length > limits.titleLength ? `${subject.slice(0, limits.titleLength - 1)}…` : subject

const mostNamed = 10

/** Blind copies are not named: others may read the thread. */
function aboutOf({ id, called, created_at }: EndedMessageRow, ending: readonly EndingRow[], now: number) {
  const names = ending.filter(({ kind }) => kind !== 'bcc').map(({ name }) => name)
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''
  return {
    message: called === String(id) ? `message ${id}` : `message ${id} (${called})`,
    to: names.length === 0 ? '' : ` to ${names.slice(0, mostNamed).join(', ')}${more}`,
    seconds: Math.round((now - created_at) / 1000),
  }
}
