/** Messages in lists: a line each, columns on a terminal and tabs in a pipe. */
import { isReserved } from '../../../base/names.ts'
import type { MailWords } from '../../words/desk.ts'
import { clock } from '../../words/times.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Columns, cellsOf } from '../terminal/tables.ts'
import { truncate } from '../terminal/width.ts'

const recipients = ({ to, cc }: MailWords): string => [...to, ...cc].join(', ')
export const titleOf = ({ sealed, subject }: MailWords): string =>
  sealed === true ? 'Sealed: between agents with keys' : subject

/** The marks of the pages in words. */
function marksOf(message: MailWords): string {
  const { kind, read_ts, ack_ts, unread, importance, ack_required, from, attachments } = message
  const isUnread = kind === null ? unread > 0 : read_ts === null
  return [
    ...(isUnread ? ['unread'] : []),
    ...(importance === 'high' || importance === 'urgent' ? [importance] : []),
    ...(ack_required ? [ack_ts === null ? 'ack wanted' : 'acknowledged'] : []),
    ...(isReserved(from.split('@', 1)[0] ?? '') ? ['person'] : []),
    ...(attachments.length > 0 ? [`${attachments.length} attached`] : []),
  ].join(', ')
}

export const mailColumns = (screen: Pick<Screen, 'tty'>, now: number): Columns<MailWords> => ({
  id: ['right', ({ id }) => id],
  project: ['shrinks', ({ project }) => project],
  from: ['shrinks', ({ from }) => from],
  to: ['shrinks', recipients],
  subject: ['shrinks', titleOf],
  marks: ['left', marksOf],
  sent: ['left', ({ created_ts }) => when(screen, Date.parse(created_ts), now)],
})

/** One line of a live list: it cannot know how wide the columns of the next will be. */
export function mailLine(message: MailWords, screen: Screen, now: number): string {
  // The same columns as in a table, one by one as they come.
  if (!screen.tty) return `${cellsOf(mailColumns(screen, now), message).join('\t')}\n`
  const time = clock(Date.parse(message.created_ts), now)
  const whom = recipients(message)
  const marks = marksOf({ ...message, unread: 0 })
  const parts = [
    `${time} #${message.id} ${message.project} ${message.from}${whom === '' ? '' : ` → ${whom}`}`,
    ...(marks === '' ? [] : [`[${marks}]`]),
    titleOf(message),
  ]
  const said = message.excerpt.trim().replace(/\s+/g, ' ')
  return `${truncate(harmlessLine(`${parts.join('  ')}${said === '' ? '' : `: ${said}`}`), screen.width)}\n`
}
