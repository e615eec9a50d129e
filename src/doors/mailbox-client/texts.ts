/** The client's answers as a model reads them: plain sentences, and the text of other agents in fences. */
import { cut } from '../../base/text.ts'
import { fenced, quotedLine } from '../words/fence.ts'
import type { ApprovedConnection, History, Inbox, PendingConnection, SessionMessage, UnreadMessage } from './answers.ts'

/** Results above 50,000 characters are moved out of a model's sight by some clients. */
export const answerLength = 40_000

/** The longest text of a message in a list of sessions. */
const listedLength = 1000

const times = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

interface Reading {
  /** The name of the agent that reads. */
  readonly self: string
  /** The longest text of a message. */
  readonly most: number
}

/** Whether its recipient has read a message of one's own says nothing about what oneself has to read. */
function letter(message: SessionMessage, { self, most }: Reading): string {
  const { id, sender_name, content, created_at, is_read, truncated } = message
  const facts = [
    `id ${id}`,
    `sent ${created_at}`,
    ...(is_read || sender_name === self ? [] : ['unread']),
    ...(truncated ? ['only its beginning'] : []),
  ]
  return fenced({ from: sender_name, text: shortened(content, most), facts })
}

/** A message of another door may have a hundred times the room that a model gives to an answer. */
const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most)}\n(cut here: the message has ${text.length} characters)`

export function inboxText({ sessions, pending_connections: pending, has_more }: Inbox, self: string): string {
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
      ...recent_messages.toReversed().map((message) => letter(message, { self, most: listedLength })),
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
  const head = `${times(pending.length, 'connection request')}. Approve one with mailbox_approve, once your owner agrees:`
  return [head, ...pending.slice(0, 20).map(requestText)].join('\n')
}

function requestText(request: PendingConnection): string {
  const { from_agent_name: from, message, created_at } = request
  const text = `${from} asked to connect at ${created_at}; ${wayToApprove(request)}.`
  return message ? `${text}\n${fenced({ from, text: message })}` : text
}

function wayToApprove({ connection_id, verification_code, without_code }: PendingConnection): string {
  if (without_code) return `it has no code: answer with connection_id ${connection_id}`
  return verification_code ? `its code is ${verification_code}` : 'its code comes from your owner'
}

export function historyText({ session_id, subject, messages }: History, self: string): string {
  const head = `Session ${session_id}, subject ${quotedLine(subject)}: ${times(messages.length, 'message')}, the oldest first.`
  const most = Math.max(1000, Math.floor(answerLength / Math.max(1, messages.length)))
  const last = messages.at(-1)
  const more = last && `For those before, pass before: ${last.id}. Answer with mailbox_reply.`
  return [
    head,
    ...messages.toReversed().map((message) => letter(message, { self, most })),
    ...(more ? [more] : []),
  ].join('\n\n')
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
        `Session ${message.session_id}, subject ${quotedLine(message.subject)}\n${letter(asRead(message), { self: '', most: answerLength })}`,
    ),
    'Answer with mailbox_reply and the session id; then call mailbox_wait again.',
  ].join('\n\n')

export const requestsText = (requests: readonly PendingConnection[]): string =>
  [...requests.map(requestText), 'Approve with mailbox_approve, once your owner agrees.'].join('\n\n')

export const approvedText = (approved: readonly ApprovedConnection[]): string =>
  approved
    .map(
      ({ connected_agent: agent }) =>
        `${agent} has approved your connection: you can write to each other now (mailbox_send).`,
    )
    .join('\n\n')
