/** The mailbox door's words for the hub's things (mailbox.check.shape). */
import { z } from 'zod'
import type { Mail } from '../../core/mail/take.ts'
import { iso } from '../words/times.ts'

export const mailShape = z.object({
  id: z.string().describe("The sender's msg_id, or one made for it; pass it as reply_to when you answer."),
  from: z.string(),
  content: z.string(),
  created: z.string().describe('ISO 8601'),
  trust: z
    .enum(['person', 'contact', 'stranger'])
    .optional()
    .describe('Who the sender is to you; left out: an agent of your project.'),
  subject: z.string().optional(),
  importance: z.string().optional(),
  ack_required: z.boolean().optional().describe('The sender waits for acknowledge_message of the mail door.'),
  lease: z.string().optional().describe('Only with lease_seconds: pass it to ack_mail.'),
})

type MailShape = z.output<typeof mailShape>

export function toMail({ clientId, from, body, createdAt, trust, loan, ...mail }: Mail): MailShape {
  return {
    id: clientId,
    from,
    content: body,
    created: iso(createdAt),
    ...(trust !== 'project' && { trust }),
    ...ofMail(mail),
    ...(loan !== undefined && { lease: loan }),
  }
}

/** A message of this door has neither: nothing is said of it. */
function ofMail({ subject, importance, ackRequired }: Pick<Mail, 'subject' | 'importance' | 'ackRequired'>) {
  if (subject === undefined && importance === 'normal' && !ackRequired) return undefined
  return { ...(subject !== undefined && { subject }), importance, ack_required: ackRequired }
}
