/** Messages in the words of mail, as its tools and `--json` say them: snake_case, ISO times, names as others address them. */
import type { Received } from '../../core/mail/inbox.ts'
import type { MailMessage, Party } from '../../core/mail/messages.ts'
import { iso, isoOrNull } from './times.ts'

/** A name that can be written to: of another project, with its slug. */
export const address = ({ name, project }: Pick<Party, 'name' | 'project'>): string =>
  project === undefined ? name : `${name}@${project}`

/** Everything about a message that is not its content. */
export const toEnvelope = ({ id, thread, subject, from, to, cc, importance, ackRequired, createdAt }: MailMessage) => ({
  id,
  thread_id: thread ?? null,
  subject,
  from: address(from),
  to: to.map(address),
  cc: cc.map(address),
  importance,
  ack_required: ackRequired,
  created_ts: iso(createdAt),
})

/** How it reached one recipient. */
export const toDelivery = ({ kind, readAt, ackedAt }: Received) => ({
  kind,
  read_ts: isoOrNull(readAt),
  ack_ts: isoOrNull(ackedAt),
})
