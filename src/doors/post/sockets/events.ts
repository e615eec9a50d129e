/** The events of the WebSocket, and the messages and close codes around them. */
import type { Arrival, ArrivalListener } from '../../../core/mail/arrivals.ts'
import { iso } from '../../words/times.ts'

type Asked = Parameters<ArrivalListener['asked']>[0]
type Approved = Parameters<ArrivalListener['approved']>[0]

const frame = (event: object): Buffer => Buffer.from(JSON.stringify(event))

export const newMessage = ({ uid, threadUid, subject, from, body, createdAt, automatic }: Arrival): Buffer =>
  frame({
    type: 'new_message',
    session_id: threadUid,
    subject,
    from_agent: from,
    content: body,
    message_id: uid,
    created_at: iso(createdAt),
    automatic,
  })

export const connectionRequest = ({ id, from, message, code, coded }: Asked): Buffer =>
  frame({
    type: 'connection_request',
    connection_id: id,
    from_agent: from,
    message: message ?? null,
    verification_code: code ?? null,
    ...(!coded && { without_code: true }),
  })

export const connectionApproved = ({ id, other }: Approved): Buffer =>
  frame({ type: 'connection_approved', connection_id: id, connected_agent: other })

export const pong = frame({ type: 'pong' })
export const authOk = frame({ type: 'auth_ok' })

/** A message of a client: a ping, or its key. Anything else is ignored. */
export function readSaid(
  data: Buffer,
): { readonly type: 'ping' } | { readonly type: 'auth'; readonly key: string } | undefined {
  let said: unknown
  try {
    said = JSON.parse(data.toString())
  } catch {
    return undefined
  }
  if (typeof said !== 'object' || said === null || !('type' in said)) return undefined
  if (said.type === 'ping') return { type: 'ping' }
  if (said.type !== 'auth' || !('api_key' in said) || typeof said.api_key !== 'string') return undefined
  return { type: 'auth', key: said.api_key }
}

/** Codes with which a socket is closed. */
export const closes = {
  stopping: [1012, 'The server stops. Connect again: another node, or the next start, answers.'],
  badKeys: [1013, 'Too many wrong keys came from this address: try again in a minute.'],
  noKey: [4000, 'No key came within the time for it.'],
  badKey: [4001, 'The key is not valid.'],
  silent: [4002, 'No answer to pings.'],
  slow: [4003, 'Too slow: events waited too long. Unread messages are in the inbox.'],
} as const

export type Close = keyof typeof closes
