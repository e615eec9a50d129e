/** The mailbox door's words for the hub's things (mailbox.check.shape). */
import { z } from 'zod'
import type { Mail } from '../../core/mail/take.ts'
import { iso } from '../words/times.ts'

export const mailShape = z.object({
  id: z.string().describe("The sender's msg_id, or one made for it; answer with the same one."),
  from: z.string(),
  content: z.string(),
  created: z.string().describe('ISO 8601'),
  lease: z.string().optional().describe('Only with lease_seconds: pass it to ack_mail.'),
})

export type MailShape = z.output<typeof mailShape>

export function toMail({ clientId, from, body, createdAt, loan }: Mail): MailShape {
  const mail = { id: clientId, from, content: body, created: iso(createdAt) }
  return loan === undefined ? mail : { ...mail, lease: loan }
}
