/** The receipt of a message, for its sender. */
import type { Reader } from '../../db/port.ts'
import { findSent, listRecipientsOf } from '../../store/mail/mail.ts'
import type { Blocked } from './admission.ts'
import type { Attachment } from './attachments.ts'
import type { Recipient } from './recipients.ts'
import { bareRoom, listAttachments } from './stored-attachments.ts'

export interface Sent {
  /** The sender's own id; the uid of the message where it gave none. */
  readonly clientId: string
  readonly uid: string
  readonly threadUid: string
  readonly messageId: number
  readonly threadId: number
  readonly seq: number
  /** The name of the thread: its key, else the id of its first message, once that was answered. */
  readonly thread: string | undefined
  readonly subject: string | undefined
  readonly createdAt: number
  readonly senderId: number
  /** The message that this one answers. */
  readonly replyTo: number | undefined
  /** The slug of the sender's project. */
  readonly home: string
  readonly deliveries: readonly Delivery[]
  readonly blocked: readonly (Blocked & AtHome)[]
  readonly attachments: readonly Attachment[]
  /** A retry: nothing was stored. */
  readonly duplicate: boolean
}

/** `near` has the names most like the one of an agent that nobody has acted as; of a few of them only. */
export type Delivery = Recipient & AtHome & { readonly near?: readonly string[] }

/** With the slug of the recipient's project. */
interface AtHome {
  readonly project: string
}

/** The same with projects as ids, as the store has them. */
export type Stored = Omit<Sent, 'senderId' | 'replyTo' | 'home' | 'deliveries' | 'blocked'> & {
  readonly deliveries: readonly Recipient[]
  readonly blocked: readonly Blocked[]
}

/** The receipt of a retry: that of the first send, without its blocked recipients. */
export async function storedReceipt(db: Reader, messageId: number): Promise<Stored> {
  const [mail, recipients] = [await findSent(db, messageId), await listRecipientsOf(db, [messageId], { blind: true })]
  const deliveries = recipients.map(({ id, project_id: projectId, name, kind }) => ({
    agent: { id, projectId, name },
    kind,
  }))
  const { name, uid, thread_uid, thread_id: threadId, seq, thread_key, subject, created_at, attachments } = mail
  return {
    clientId: name,
    uid,
    threadUid: thread_uid,
    messageId,
    threadId,
    seq,
    thread: thread_key ?? undefined,
    subject: subject ?? undefined,
    createdAt: created_at,
    deliveries,
    blocked: [],
    attachments: (await listAttachments(db, [{ id: messageId, attachments }], bareRoom)).get(messageId) ?? [],
    duplicate: true,
  }
}
