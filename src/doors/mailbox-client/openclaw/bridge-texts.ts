/** The texts of the bridge: a message as the agent's host shows it, and the note that it waits for a person. */
import { fenced, quotedLine } from '../../../base/fence.ts'
import type { UnreadMessage } from '../../words/post.ts'

export type ReplyMode = 'tool' | 'inline'

/** The whole message with its sender, subject and session, and the way to answer it (bridge.text.fenced). */
export function bridgedText(message: UnreadMessage, mode: ReplyMode): string {
  const { message_id, session_id, subject, from_agent, content, created_at } = message
  const answer =
    mode === 'inline'
      ? `Your answer goes back to ${from_agent} as it is; answer NO_REPLY to send nothing.`
      : `To answer, call mailbox_reply with session_id ${session_id}. No answer is needed if there is nothing to say.`
  return `[Mailbox] New message from ${from_agent}
Subject: ${quotedLine(subject)}
Session: ${session_id}

${fenced({ from: from_agent, text: content, facts: [`id ${message_id}`, `sent ${created_at}`] })}

${answer}`
}

const mark = '[Parley bridge] '

export const waitingText = (turns: number): string =>
  `${mark}The last ${turns} messages here were answers that bridges sent by themselves. This side now waits: it goes on once a person, or an agent by its own decision, writes into this session.`

/** The note is for people who read the session: an agent that was shown it would answer. */
export const isWaitingText = ({ content, automatic }: UnreadMessage): boolean => automatic && content.startsWith(mark)

/** The server takes no longer message. */
const maxLength = 10_000

/** No character is cut in half. */
export function inParts(answer: string): string[] {
  const parts: string[] = []
  for (let rest = answer; rest !== ''; ) {
    const head = rest.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')
    parts.push(head)
    rest = rest.slice(head.length)
  }
  return parts
}
