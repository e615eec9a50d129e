/** Messages in lists: a line each, columns on a terminal and tabs in a pipe. */
import { isReserved } from '../../../base/names.ts'
import type { MailWords } from '../../words/desk.ts'
import { clock } from '../../words/times.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { table } from '../terminal/tables.ts'
import { truncate } from '../terminal/width.ts'

export const mailColumns = {
  id: 'right',
  project: 'shrinks',
  from: 'shrinks',
  to: 'shrinks',
  subject: 'shrinks',
  marks: 'left',
  sent: 'left',
} as const

const recipients = ({ to, cc }: MailWords): string => [...to, ...cc].join(', ')
const titleOf = ({ sealed, subject }: MailWords): string =>
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

const rowOf = (message: MailWords, sent: string): string[] => [
  String(message.id),
  message.project,
  message.from,
  recipients(message),
  titleOf(message),
  marksOf(message),
  sent,
]

export const mailTable = (messages: readonly MailWords[], screen: Screen, now: number): string =>
  table(
    mailColumns,
    messages.map((message) => rowOf(message, when(screen, Date.parse(message.created_ts), now))),
    screen,
  )

/** One line of a live list: it cannot know how wide the columns of the next will be. */
export function mailLine(message: MailWords, screen: Screen, now: number): string {
  // The same columns as in a table, one by one as they come.
  if (!screen.tty) return `${rowOf(message, message.created_ts).map(harmlessLine).join('\t')}\n`
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
