/** `/mail/attention`: what needs a person, and below it four boards of mail that somebody is late with. */
import { z } from 'zod'
import { countAttention, listAttention } from '../../../core/pages/late-mail.ts'
import { type Needs, readNeedLines, readNeeds } from '../../../core/pages/needs.ts'
import { toContact } from '../../words/contacts.ts'
import { toReservation } from '../../words/leases.ts'
import { iso, isoOrNull } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage, type Respond } from '../page.ts'
import { toBoardAgent } from '../parts/board.ts'
import { type Board, boards, boardsLine } from '../parts/boards.ts'
import { empty } from '../parts/empty.ts'
import { needTexts } from '../parts/need-texts.ts'
import { needsList } from '../parts/needs.ts'
import { pager } from '../parts/pager.ts'
import { called, pathShown, subjectShown } from '../parts/people.ts'
import { row, rows } from '../parts/rows.ts'
import { ageTime, longTime } from '../parts/times.ts'
import { limit, oneOf, place, text } from '../query.ts'
import { addressIn, nextUrl, toMessage } from '../shapes.ts'
import { urlWith, type Visit } from '../site.ts'

/** For programs that name no board. */
const usual = 'ack-overdue'

type Item = Awaited<ReturnType<typeof listAttention>>['items'][number]

/** With `?lines=1` the data is the lines as sentences, and no more: a browser that notifies asks after every change. */
export const page: Respond = async (visit, params) => {
  if (visit.query.get('lines') !== '1') return whole(visit, params)
  const { hub, caller, mark, query } = visit
  const lines = needTexts(await readNeedLines(hub, caller, { project: query.get('project') ?? undefined, mark }))
  return { json: () => ({ lines }), view: async () => (await whole(visit, params)).view() }
}

const whole = definePage({
  query: z.object({
    view: oneOf(['unread', 'urgent', 'ack-required', 'ack-overdue']).optional(),
    project: text,
    before: place,
    limit,
  }),
  async load({ hub, caller, mark }, { view, project, before, limit }) {
    const [needs, counts, list] = await Promise.all([
      readNeeds(hub, caller, { project, mark }),
      countAttention(hub, caller, { project, mark }),
      listAttention(hub, caller, { view: view ?? usual, project, before, limit, mark }),
    ])
    return { needs, counts, list }
  },
  json: ({ data: { needs, counts, list }, query: { view }, visit }) => ({
    needs: toNeeds(needs),
    lines: needTexts(needs),
    counts: {
      unread: counts.unread,
      urgent: counts.urgent,
      'ack-required': counts.ackRequired,
      'ack-overdue': counts.ackOverdue,
    },
    view: view ?? usual,
    messages: list.items.map((item) => ({
      ...toMessage(item),
      late: item.late.map(({ name, project, since, remindedAt }) => ({
        name: addressIn(item.project)({ name, project }),
        since: iso(since),
        reminded_ts: isoOrNull(remindedAt),
      })),
    })),
    loops: needs.loops.map(({ id, thread, project, agents, pausedAt }) => ({
      id,
      thread: thread ?? null,
      project,
      agents: [...agents],
      paused_ts: iso(pausedAt),
    })),
    next: nextUrl(visit, list.next),
  }),
  view: ({ data: { needs, counts, list }, query: { view, project, before }, visit }) => ({
    title: 'Needs you',
    here: 'attention',
    up: '/mail',
    watch: { project },
    main: html`<div class="head"><h1>Needs you</h1></div>
${view === undefined && html`<h2 class="visually-hidden">The list</h2>${needsList(visit, needs)}`}
<section class="section"><h2>Late mail</h2>${boardsLine(counts, { ...(view && { current: view }), project })}
${project !== undefined && html`<div class="filters"><a class="pill" aria-current="true" href="${urlWith(visit, { project: undefined, before: undefined })}">In ${project} <span aria-hidden="true">×</span></a></div>`}
${
  view !== undefined &&
  html`<h3 class="visually-hidden">${boards.find((board) => board.view === view)?.says ?? view}</h3>
${list.items.length === 0 ? empty('Nothing is stuck', calm[view]) : rows(list.items.map((item) => line(visit, item)))}
${pager({ older: nextUrl(visit, list.next), newer: before === undefined ? null : urlWith(visit, { before: undefined }) })}`
}</section>`,
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
      html`${place > 0 && ', '}<bdi>${called(who, item.project)}</bdi> for ${ageTime(visit, who.since)}${who.remindedAt !== undefined && html` (reminded ${longTime(visit, who.remindedAt)})`}`,
  )
  return row(visit, item, {
    told: { subject: pathShown(subjectShown(item.subject)), excerpt: html`Late: ${late}` },
    tags: visit.steers
      ? html`<form method="post" action="/mail/attention">${proof(visit.csrf)}<button class="quiet" name="remind" value="${item.id}" aria-label="Remind those who are late with ${item.subject}">Remind</button></form>`
      : undefined,
  })
}

const toNeeds = ({ answers, questions, contacts, conflicts, debtors, stuck, dead }: Needs) => ({
  answers: answers.map(toMessage),
  questions: questions.map(toMessage),
  contacts: contacts.map(toContact),
  conflicts: conflicts.map(({ project, holder, other, holderSeenAt, stuck }) => ({
    project,
    holder: toReservation(holder),
    other: toReservation(other),
    holder_seen_ts: holderSeenAt === 0 ? null : iso(holderSeenAt),
    stuck,
  })),
  overdue: debtors.map(({ agent, count, since, messages }) => ({
    agent: `${agent.name}@${agent.project}`,
    count,
    since: iso(since),
    message_ids: messages.map(({ id }) => id),
  })),
  stuck: stuck.map(toBoardAgent),
  dead_letters: dead.map(({ message, recipient, attempts, diedAt }) => ({
    message: toMessage(message),
    recipient: `${recipient.name}@${recipient.project}`,
    attempts,
    died_ts: iso(diedAt),
  })),
})
