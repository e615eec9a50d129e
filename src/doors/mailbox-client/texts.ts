/** The client's answers as a model reads them: plain sentences, and the text of other agents in fences. */
import { cut } from '../../base/text.ts'
import { fenced, quotedLine } from '../words/fence.ts'
import type { ConnectionEvent, History, Inbox, PendingConnection, SessionMessage, UnreadMessage } from './answers.ts'

/** Results above 50,000 characters are moved out of a model's sight by some clients. */
export const answerLength = 40_000

/** The longest text of a message in a list of sessions. */
const listedLength = 1000

const times = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

function letter({ id, sender_name, content, created_at, is_read, truncated }: SessionMessage, most: number): string {
  const facts = [
    `id ${id}`,
    `sent ${created_at}`,
    ...(is_read ? [] : ['unread']),
    ...(truncated ? ['only its beginning'] : []),
  ]
  return fenced({ from: sender_name, text: shortened(content, most), facts })
}

/** A message of another door may have a hundred times the room that a model gives to an answer. */
const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most)}\n(cut here: the message has ${text.length} characters)`

export function inboxText({ sessions, pending_connections: pending, has_more }: Inbox): string {
  const unread = sessions.reduce((sum, { unread_count }) => sum + unread_count, 0)
  const head = `${times(unread, 'unread message')} in ${times(sessions.length, 'session')}.`
  const parts = [sessions.length === 0 ? 'Your mailbox is empty.' : head]
  let length = 0
  let older = has_more === true
  for (const session of sessions) {
    const { session_id, subject, other_agent_name, unread_count, last_message_at, recent_messages } = session
    const text = [
      `Session ${session_id} with ${other_agent_name}, subject ${quotedLine(subject)}: ${unread_count} unread, last message ${last_message_at}`,
      // Shown in the order in which they were written; the server's is newest first.
      ...recent_messages.toReversed().map((message) => letter(message, listedLength)),
    ].join('\n')
    length += text.length
    if (length > answerLength) older = true
    else parts.push(text)
  }
  if (older)
    parts.push(
      'There are older sessions, which this answer has no room for. mailbox_wait takes unread messages of all.',
    )
  if (pending.length > 0) parts.push(pendingText(pending))
  if (sessions.length > 0) parts.push('Read a session with mailbox_read, answer with mailbox_reply.')
  return parts.join('\n\n')
}

function pendingText(pending: readonly PendingConnection[]): string {
  const shown = pending.slice(0, 20).map(({ from_agent_name, message, verification_code, created_at }) => {
    const code = verification_code ? `its code is ${verification_code}` : 'its code comes from your owner'
    const text = `${from_agent_name} asked to connect at ${created_at}; ${code}.`
    return message ? `${text}\n${fenced({ from: from_agent_name, text: message })}` : text
  })
  const head = `${times(pending.length, 'connection request')}. Approve one with mailbox_approve and its code, once your owner agrees:`
  return [head, ...shown].join('\n')
}

export function historyText({ session_id, subject, messages }: History): string {
  const head = `Session ${session_id}, subject ${quotedLine(subject)}: ${times(messages.length, 'message')}, the oldest first.`
  const most = Math.max(1000, Math.floor(answerLength / Math.max(1, messages.length)))
  const last = messages.at(-1)
  const more = last && `For those before, pass before: ${last.id}. Answer with mailbox_reply.`
  return [head, ...messages.toReversed().map((message) => letter(message, most)), ...(more ? [more] : [])].join('\n\n')
}

const asRead = ({ message_id, from_agent, content, created_at }: UnreadMessage): SessionMessage => ({
  ...{ id: message_id, sender_name: from_agent, content, created_at },
  is_read: true,
})

export const arrivedText = (messages: readonly UnreadMessage[], more: boolean): string =>
  [
    `${times(messages.length, 'new message')}${more ? ', and more are waiting' : ''}.`,
    ...messages.map(
      (message) =>
        `Session ${message.session_id}, subject ${quotedLine(message.subject)}\n${letter(asRead(message), answerLength)}`,
    ),
    'Answer with mailbox_reply and the session id; then call mailbox_wait again.',
  ].join('\n\n')

export const connectionText = (events: readonly ConnectionEvent[]): string =>
  events
    .map((event) => {
      if (event.type === 'connection_approved')
        return `${event.connected_agent} has approved your connection: you can write to each other now (mailbox_send).`
      const { from_agent, message, verification_code } = event
      const code = verification_code ? `Its code is ${verification_code}.` : 'Its code comes from your owner.'
      const text = `${from_agent} asks to connect. ${code} Approve it with mailbox_approve, once your owner agrees.`
      return message ? `${text}\n${fenced({ from: from_agent, text: message })}` : text
    })
    .join('\n\n')
