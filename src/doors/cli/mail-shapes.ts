/** The words of `--json` for mail: those of its tools (spec/mail.md), times in ISO 8601. */
import type { Received } from '../../core/mail/inbox.ts'
import type { Party } from '../../core/mail/letters.ts'
import { iso } from './times.ts'

/** A name that can be written to: of another project, with its slug. */
export const address = ({ name, project }: Pick<Party, 'name' | 'project'>): string =>
  project === undefined ? name : `${name}@${project}`

const isoOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : iso(ms))

export const toReceived = (letter: Received) => ({
  id: letter.id,
  thread_id: letter.thread ?? null,
  subject: letter.subject,
  from: address(letter.from),
  to: letter.to.map(address),
  cc: letter.cc.map(address),
  kind: letter.kind,
  importance: letter.importance,
  ack_required: letter.ackRequired,
  created_ts: iso(letter.createdAt),
  read_ts: isoOrNull(letter.readAt),
  ack_ts: isoOrNull(letter.ackedAt),
})
