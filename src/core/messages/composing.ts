/** A message as it is stored, and what its sender is told of it. */
import { traceparent } from '../../base/tracing.ts'
import { requestKind } from '../../store/contacts/grounds.ts'
import { automaticKind } from '../../store/mail/conversations.ts'
import type { Terms } from '../../store/messages/admission.ts'
import { bodyHashOf } from '../../store/messages/client-ids.ts'
import type { NewMail, Placed } from '../../store/messages/sending.ts'
import type { Agent } from '../agents/agents.ts'
import type { Hub } from '../hub/hub.ts'
import type { Blocked } from './admission.ts'
import { type Attachment, type Enclosed, linksOf, listOf } from './attachments.ts'
import { aboutOf, type Joined, type Placement } from './placing.ts'
import type { Stored } from './receipt.ts'
import { guestsOf, type Recipient } from './recipients.ts'
import type { ResolvedDraft } from './send.ts'
import { inReceipt, sha1sOf } from './stored-attachments.ts'

interface Composing {
  readonly uid: string
  readonly sender: Agent
  readonly recipients: readonly Recipient[]
  readonly terms: Terms
  readonly draft: ResolvedDraft
  readonly enclosed: Enclosed | undefined
  readonly place: Placement
  /** A request for contact. */
  readonly request?: boolean
}

interface Composed extends Pick<Composing, 'draft' | 'recipients'> {
  readonly thread: Joined | undefined
  readonly mail: NewMail
  readonly attachments: readonly Attachment[]
}

export function compose(hub: Hub, { uid, sender, recipients, draft, enclosed, place, ...how }: Composing): Composed {
  const { subject, importance, ackRequired, clientId: called } = draft
  const { thread, replyTo, named } = place
  const carried = enclosed?.attachments ?? []
  const now = hub.clock.now()
  const attachments = [...carried, ...linksOf(draft.links)]
  return {
    draft,
    recipients,
    thread,
    attachments,
    mail: {
      message: {
        uid,
        senderId: sender.id,
        clientId: named === undefined ? called : undefined,
        ...kindOf({ ...how, automatic: draft.automatic }),
        subject,
        ...(importance && { importance }),
        ...(ackRequired && { ackRequired }),
        replyTo,
        body: enclosed?.body ?? draft.body,
        attachments: listOf(attachments),
        now,
        ...(draft.ttlMs !== undefined && { expiresAt: now + draft.ttlMs }),
      },
      threadId: thread?.id,
      projectId: sender.projectId,
      key: draft.thread,
      to: recipients.map(({ agent, kind }) => ({ id: agent.id, kind })),
      terms: how.terms,
      called,
      bodyHash: called !== undefined && named === 'used' ? bodyHashOf(draft.body) : undefined,
      guests: guestsOf(sender, recipients, thread?.project_id ?? sender.projectId),
      about: aboutOf(sender, draft, thread),
      images: carried.flatMap((one, position) =>
        one.kind === 'inline' ? [{ position, data_uri: one.dataUri ?? '' }] : [],
      ),
      sha1s: sha1sOf(carried),
      traceparent: traceparent(),
    },
  }
}

/** Nothing for an ordinary message. */
function kindOf(how: { request?: boolean; automatic?: boolean | undefined }): { kind?: string } {
  if (how.request) return { kind: requestKind }
  return how.automatic ? { kind: automaticKind } : {}
}

export function receiptOf(
  { draft, recipients, thread, mail, attachments }: Composed,
  placed: Placed,
  blocked: readonly Blocked[],
): Stored {
  const { uid, clientId = uid, now } = mail.message
  const { found, ...place } = placed
  return {
    clientId,
    uid,
    threadUid: thread?.uid ?? uid,
    ...place,
    thread: thread ? thread.called : draft.thread,
    subject: draft.subject,
    createdAt: now,
    deliveries: recipients.map((one) => ({ ...one, found: found?.get(one.agent.id) })),
    blocked,
    attachments: inReceipt(attachments),
    duplicate: false,
  }
}
