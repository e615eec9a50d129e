/** The answers of the client's tools: plain sentences, and the text of other agents in fences. */

import { fenced, quotedLine } from '../../base/fence.ts'
import { cut } from '../../base/text.ts'
import type { History, Inbox, PendingRequest, SessionMessage, UnreadMessage } from '../words/post.ts'
import type { Approval } from './arrivals.ts'

/** Some clients hide results above 50,000 characters from the model. */
export const answerLength = 40_000

/** The longest text of a message in a list of sessions. */
const listedLength = 1000

const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

type ShownMessage = Pick<SessionMessage, 'id' | 'sender_name' | 'content' | 'created_at' | 'is_read' | 'truncated'>

/** "unread" is not said of the reader's own messages: it would tell what the other side has read. */
function messageText(message: ShownMessage, { self, maxLength }: { self: string; maxLength: number }): string {
  const { id, sender_name, content, created_at, is_read, truncated } = message
  const facts = [
    `id ${id}`,
    `sent ${created_at}`,
    ...(is_read || sender_name === self ? [] : ['unread']),
    ...(truncated ? ['only its beginning'] : []),
  ]
  return fenced({ from: sender_name, text: shortened(content, maxLength), facts })
}

/** A message of another door may be a hundred times as long as an answer here. */
const shortened = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${cut(text, maxLength)}\n(cut here: the message has ${text.length} characters)`

export function inboxText({ sessions, pending_connections: pending, has_more }: Inbox, self: string): string {
  const unread = sessions.reduce((sum, { unread_count }) => sum + unread_count, 0)
  const head = `${counted(unread, 'unread message')} in ${counted(sessions.length, 'session')}.`
  const parts = [sessions.length === 0 ? 'Your mailbox is empty.' : head]
  let length = 0
  let older = has_more === true
  for (const session of sessions) {
    const { session_id, subject, other_agent_name, unread_count, last_message_at, recent_messages } = session
    const text = [
      `Session ${session_id} with ${other_agent_name}, subject ${quotedLine(subject)}: ${unread_count} unread, last message ${last_message_at}`,
      // Shown in the order in which they were written; the server's is newest first.
      ...recent_messages.toReversed().map((message) => messageText(message, { self, maxLength: listedLength })),
    ].join('\n')
    length += text.length
    if (length > answerLength) older = true
    else parts.push(text)
  }
  if (older)
    parts.push(
      'There are older sessions, which do not fit into this answer. mailbox_wait takes the unread messages of all sessions.',
    )
  if (pending.length > 0) parts.push(pendingText(pending))
  if (sessions.length > 0) parts.push('Read a session with mailbox_read, answer with mailbox_reply.')
  return parts.join('\n\n')
}

function pendingText(pending: readonly PendingRequest[]): string {
  const head = `${counted(pending.length, 'connection request')}. Approve one with mailbox_approve, once your owner agrees:`
  return [head, ...pending.slice(0, 20).map(requestText)].join('\n')
}

function requestText(request: PendingRequest): string {
  const { from_agent_name: from, message, created_at } = request
  const text = `${from} asked to connect at ${created_at}; ${wayToApprove(request)}.`
  return message ? `${text}\n${fenced({ from, text: message })}` : text
}

function wayToApprove({ connection_id, verification_code, without_code }: PendingRequest): string {
  if (without_code) return `it has no code: answer with connection_id ${connection_id}`
  return verification_code ? `its code is ${verification_code}` : 'its code comes from your owner'
}

export function historyText({ session_id, subject, messages }: History, self: string): string {
  const head = `Session ${session_id}, subject ${quotedLine(subject)}: ${counted(messages.length, 'message')}, the oldest first.`
  const maxLength = Math.max(1000, Math.floor(answerLength / Math.max(1, messages.length)))
  const last = messages.at(-1)
  const more = last && `For older messages, pass before: ${last.id}. Answer with mailbox_reply.`
  return [
    head,
    ...messages.toReversed().map((message) => messageText(message, { self, maxLength })),
    ...(more ? [more] : []),
  ].join('\n\n')
}

const asRead = ({ message_id: id, from_agent: sender_name, content, created_at }: UnreadMessage): ShownMessage => ({
  id,
  sender_name,
  content,
  created_at,
  is_read: true,
})

export const arrivedText = (messages: readonly UnreadMessage[], more: boolean): string =>
  [
    `${counted(messages.length, 'new message')}${more ? ', and more are waiting' : ''}.`,
    ...messages.map(
      (message) =>
        `Session ${message.session_id}, subject ${quotedLine(message.subject)}\n${messageText(asRead(message), { self: '', maxLength: answerLength })}`,
    ),
    'Answer with mailbox_reply and the session id; then call mailbox_wait again.',
  ].join('\n\n')

export const requestsText = (requests: readonly PendingRequest[]): string =>
  [...requests.map(requestText), 'Approve with mailbox_approve, once your owner agrees.'].join('\n\n')

export const approvedText = (approved: readonly Approval[]): string =>
  approved
    .map(
      ({ connected_agent: agent }) =>
        `${agent} has approved your connection: you can write to each other now (mailbox_send).`,
    )
    .join('\n\n')
