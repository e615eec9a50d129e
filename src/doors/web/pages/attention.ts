/** `/mail/attention`: four boards over all projects of what somebody is late with, and a way to remind them. */
import { z } from 'zod'
import { countAttention, listAttention } from '../../../core/pages/attention.ts'
import { iso, isoOrNull } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage } from '../page.ts'
import { type Board, boards, boardsLine } from '../parts/boards.ts'
import { empty } from '../parts/empty.ts'
import { pager } from '../parts/pager.ts'
import { called } from '../parts/people.ts'
import { row, rows } from '../parts/rows.ts'
import { longTime } from '../parts/times.ts'
import { limit, oneOf, place, text } from '../query.ts'
import { addressIn, nextUrl, toMessage } from '../shapes.ts'
import { urlWith, type Visit } from '../site.ts'

type Item = Awaited<ReturnType<typeof listAttention>>['items'][number]

export const page = definePage({
  query: z.object({
    view: oneOf(['unread', 'urgent', 'ack-required', 'ack-overdue']).default('ack-overdue'),
    project: text,
    before: place,
    limit,
  }),
  async load({ hub, caller }, { view, project, before, limit }) {
    const [counts, list] = await Promise.all([
      countAttention(hub, caller, { project }),
      listAttention(hub, caller, { view, project, before, limit }),
    ])
    return { counts, list }
  },
  json: ({ data: { counts, list }, query: { view }, visit }) => ({
    counts: {
      unread: counts.unread,
      urgent: counts.urgent,
      'ack-required': counts.ackRequired,
      'ack-overdue': counts.ackOverdue,
    },
    view,
    messages: list.items.map((item) => ({
      ...toMessage(item),
      late: item.late.map(({ name, project, since, remindedAt }) => ({
        name: addressIn(item.project)({ name, project }),
        since: iso(since),
        reminded_ts: isoOrNull(remindedAt),
      })),
    })),
    next: nextUrl(visit, list.next),
  }),
  view: ({ data: { counts, list }, query: { view, project, before }, visit }) => ({
    title: 'Attention',
    here: 'attention',
    up: '/mail',
    watch: { project },
    main: html`<div class="head"><h1>Attention</h1></div>
${boardsLine(counts, { current: view, project })}
${project !== undefined && html`<div class="filters"><a class="pill" aria-current="true" href="${urlWith(visit, { project: undefined, before: undefined })}">In ${project} <span aria-hidden="true">×</span></a></div>`}
<h2 class="visually-hidden">${boards.find((board) => board.view === view)?.says ?? view}</h2>
${list.items.length === 0 ? empty('Nothing is stuck', calm[view]) : rows(list.items.map((item) => line(visit, item)))}
${pager({ older: nextUrl(visit, list.next), newer: before === undefined ? null : urlWith(visit, { before: undefined }) })}`,
  }),
})

const calm: Readonly<Record<Board, string>> = {
  unread: 'No message has waited for more than an hour.',
  urgent: 'Every urgent message was read.',
  'ack-required': 'Nobody owes an acknowledgement.',
  'ack-overdue': 'No acknowledgement is overdue.',
}

/** The late agents, and since when, in place of the beginning of the text. */
function line(visit: Visit, item: Item): Html {
  const late = item.late.map(
    (who, place) =>
      html`${place > 0 && ', '}<bdi>${called(who, item.project)}</bdi> since ${longTime(visit, who.since)}${who.remindedAt !== undefined && html` (reminded ${longTime(visit, who.remindedAt)})`}`,
  )
  return row(visit, item, {
    told: { subject: html`${item.subject}`, excerpt: html`Late: ${late}` },
    tags: visit.steers
      ? html`<form method="post" action="/mail/attention">${proof(visit.csrf)}<button class="quiet" name="remind" value="${item.id}" aria-label="Remind those who are late with ${item.subject}">Remind</button></form>`
      : undefined,
  })
}
