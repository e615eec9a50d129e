/** A message as it is stored, and what its sender is told of it. */
import { requestKind } from '../../store/contact-grounds.ts'
import { automaticKind } from '../../store/conversations.ts'
import type { Mail, Placed, ThreadPlace } from '../../store/sending.ts'
import type { Agent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import type { Blocked } from './admission.ts'
import { type Attachment, type Enclosed, linksOf, listOf } from './attachments.ts'
import { inReceipt } from './carried.ts'
import type { Joined, Place } from './placing.ts'
import type { Stored } from './receipt.ts'
import type { Recipient } from './recipients.ts'
import type { Draft } from './send.ts'

interface Composing {
  readonly uid: string
  readonly sender: Agent
  readonly draft: Omit<Draft, 'to' | 'enclosing'>
  readonly enclosed: Enclosed | undefined
  readonly place: Place
  readonly request?: boolean
}

export interface Composed extends Pick<Composing, 'draft'> {
  readonly thread: Joined | undefined
  readonly place: ThreadPlace
  readonly mail: Mail
  readonly urgent: boolean
  readonly attachments: readonly Attachment[]
}

export function compose(hub: Hub, { uid, sender, draft, enclosed, place, request = false }: Composing): Composed {
  const { subject, importance = 'normal', ackRequired = false } = draft
  const { thread, replyTo, named } = place
  const now = hub.clock.now()
  const attachments = [...(enclosed?.attachments ?? []), ...linksOf(draft.links)]
  return {
    draft,
    thread,
    place: thread ? { threadId: thread.id } : { begins: { uid, projectId: sender.projectId, key: draft.thread, now } },
    mail: {
      uid,
      senderId: sender.id,
      clientId: named === undefined ? draft.clientId : undefined,
      ...(request ? { kind: requestKind } : draft.automatic && { kind: automaticKind }),
      subject,
      importance,
      ackRequired,
      replyTo,
      body: enclosed?.body ?? draft.body,
      attachments: listOf(attachments),
      now,
    },
    urgent: importance === 'high' || importance === 'urgent',
    attachments,
  }
}

export function receiptOf(
  { draft, thread, mail, attachments }: Composed,
  placed: Placed,
  { passed, blocked }: { passed: readonly Recipient[]; blocked: readonly Blocked[] },
): Stored {
  const { uid, clientId = uid } = mail
  return {
    clientId,
    uid,
    threadUid: thread?.uid ?? uid,
    ...placed,
    thread: thread ? thread.called : draft.thread,
    subject: draft.subject,
    createdAt: mail.now,
    deliveries: passed,
    blocked,
    attachments: inReceipt(attachments),
    duplicate: false,
  }
}
