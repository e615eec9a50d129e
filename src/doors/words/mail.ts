/** Messages in the words of mail, as its tools and `--json` say them: snake_case, ISO times, names as others address them. */
import type { Received } from '../../core/mail/inbox.ts'
import type { MailMessage, Party } from '../../core/mail/messages.ts'
import { iso, isoOrNull } from './times.ts'

/** A name that can be written to: of another project, with its slug. */
export const address = ({ name, project }: Pick<Party, 'name' | 'project'>): string =>
  project === undefined ? name : `${name}@${project}`

/** The recipients whose mailbox it left unread, by how it did. */
function toEndings({ to, cc, bcc }: Pick<MailMessage, 'to' | 'cc' | 'bcc'>): { expired?: string[]; dead?: string[] } {
  const ended = [...to, ...cc, ...bcc].filter((party) => party.ended !== undefined)
  if (ended.length === 0) return {}
  const expired = ended.filter((party) => party.ended === 'expired').map(address)
  const dead = ended.filter((party) => party.ended !== 'expired').map(address)
  return { ...(expired.length > 0 && { expired }), ...(dead.length > 0 && { dead }) }
}

/** Everything about a message that is not its content. */
export const toEnvelope = (message: MailMessage) => ({
  ...envelope(message),
  ...toEndings(message),
})

const envelope = ({ id, thread, subject, from, to, cc, importance, ackRequired, createdAt, hops }: MailMessage) => ({
  id,
  thread_id: thread ?? null,
  subject,
  from: address(from),
  to: to.map(address),
  cc: cc.map(address),
  importance,
  ack_required: ackRequired,
  created_ts: iso(createdAt),
  ...(hops > 0 && { hops }),
})

/** How it reached one recipient. */
export const toDelivery = ({ kind, readAt, ackedAt, trust }: Received) => ({
  kind,
  read_ts: isoOrNull(readAt),
  ack_ts: isoOrNull(ackedAt),
  trust,
})
