/** The four boards of what wants somebody, as a line of figures. */
import type { countAttention } from '../../../core/pages/late-mail.ts'
import { type Html, html } from '../html.ts'
import { withQuery } from '../site.ts'

type Counts = Awaited<ReturnType<typeof countAttention>>

export const boards = [
  { view: 'ack-overdue', count: 'ackOverdue', says: 'Overdue', told: 'acknowledgement overdue' },
  { view: 'urgent', count: 'urgent', says: 'Urgent', told: 'urgent and unread' },
  { view: 'ack-required', count: 'ackRequired', says: 'To acknowledge', told: 'acknowledgement required' },
  { view: 'unread', count: 'unread', says: 'Unread', told: 'unread for more than an hour' },
] as const

export type Board = (typeof boards)[number]['view']

export const boardsLine = (
  counts: Counts,
  { current, project }: { current?: Board; project?: string | undefined } = {},
): Html =>
  html`<nav class="boards-line" aria-label="What wants attention">${boards.map(({ view, count, told }, place) => {
    const number = counts[count]
    return html`<a href="${withQuery('/mail/attention', { view, project })}"${view === current && html` aria-current="page"`}${number > 0 && place < 2 && html` class="wants"`}><b>${number}${counts.capped.has(view) && '+'}</b><span>${told}</span></a>`
  })}</nav>`
