/** The words of `--json` for mail: those of its tools, times in ISO 8601. */
import type { Received } from '../../core/mail/inbox.ts'
import type { Party } from '../../core/mail/letters.ts'
import { iso } from './times.ts'

/** A name that can be written to: of another project, with its slug. */
export const address = ({ name, project }: Pick<Party, 'name' | 'project'>): string =>
  project === undefined ? name : `${name}@${project}`

const isoOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : iso(ms))

export const toReceived = (message: Received) => ({
  id: message.id,
  thread_id: message.thread ?? null,
  subject: message.subject,
  from: address(message.from),
  to: message.to.map(address),
  cc: message.cc.map(address),
  kind: message.kind,
  importance: message.importance,
  ack_required: message.ackRequired,
  created_ts: iso(message.createdAt),
  read_ts: isoOrNull(message.readAt),
  ack_ts: isoOrNull(message.ackedAt),
})
