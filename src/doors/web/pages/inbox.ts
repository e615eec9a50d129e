/** `/mail/{project}/inbox/{agent}`: the mail of one agent, and who it is. */
import { z } from 'zod'
import { isReserved } from '../../../base/names.ts'
import { type Box, listBox } from '../../../core/pages/agent-mail.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage, part } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { pager } from '../parts/pager.ts'
import { clientOf, disc } from '../parts/people.ts'
import { projectHead } from '../parts/project-head.ts'
import { row, rows, sealedAsOne, threadUrl } from '../parts/rows.ts'
import { longTime } from '../parts/times.ts'
import { flag, limit, oneOf, pageNumber, place } from '../query.ts'
import { nextUrl, toAgent, toBoxed } from '../shapes.ts'
import { at, urlWith, type Visit } from '../site.ts'

const query = z.object({
  box: oneOf(['inbox', 'outbox']).default('inbox'),
  unread: flag,
  page: pageNumber,
  before: place,
  after: place,
  limit,
})

export const page = definePage({
  query,
  load: ({ hub, caller }, wish, params) =>
    listBox(hub, caller, part(params, 'project'), { ...wish, name: part(params, 'agent') }),
  json: ({ data, query: wish, visit }) => ({
    agent: toAgent(data.agent),
    page: wish.page ?? 1,
    limit: wish.limit,
    messages: data.items.map(toBoxed),
    next: olderUrl(visit, data, wish),
  }),
  view: ({ data, query: wish, visit }) => {
    const { agent, project, items } = data
    const { slug } = project
    const here = wish.box === 'inbox'
    return {
      title: `${agent.name}: ${wish.box}`,
      project: slug,
      up: at(slug),
      watch: { project: slug, agent: agent.name },
      main: html`${projectHead(visit, { project: slug, title: html`${disc(visit, agent)} ${agent.name}` })}
${profile(visit, data)}
<div class="filters"><a class="pill" href="${urlWith(visit, { ...fresh, box: undefined })}"${here && html` aria-current="true"`}>Inbox</a><a class="pill" href="${urlWith(visit, { ...fresh, box: 'outbox', unread: undefined })}"${!here && html` aria-current="true"`}>Outbox</a>${
        here &&
        html`<a class="pill" href="${urlWith(visit, { ...fresh, unread: wish.unread ? undefined : 1 })}"${wish.unread && html` aria-current="true"`}>Unread by ${agent.name}</a>`
      }${here && markAll(visit, data)}</div>
${
  items.length === 0
    ? empty('Nothing here', here ? `No message for ${agent.name} fits.` : `${agent.name} has sent nothing yet.`)
    : rows(
        sealedAsOne(items, (message) => `${here && message.readAt === undefined} ${stateOf(message)}`).map((message) =>
          line(visit, data, message, here),
        ),
      )
}${pager({ older: olderUrl(visit, data, wish), newer: newerUrl(visit, wish) })}`,
    }
  },
})

const fresh = { page: undefined, before: undefined, after: undefined, done: undefined } as const

/** Numbered pages go on by number, all others below the last message. */
const olderUrl = (visit: Visit, { next }: Box, wish: z.output<typeof query>): string | null =>
  wish.page === undefined || next === undefined ? nextUrl(visit, next) : urlWith(visit, { page: wish.page + 1 })

function newerUrl(visit: Visit, { page, before }: z.output<typeof query>): string | null {
  if (page !== undefined && page > 1) return urlWith(visit, { page: page - 1 })
  return before === undefined ? null : urlWith(visit, fresh)
}

const profile = (visit: Visit, { agent }: Box): Html =>
  html`<p class="facts-line">${clientOf(agent) !== '' && html`<span>${clientOf(agent)}</span>`}<span>contact policy <code>${agent.contactPolicy}</code></span><span>${
    agent.activeAt === 0 ? 'never active' : html`active ${longTime(visit, agent.activeAt)}`
  }</span><span>${isReserved(agent.name) ? `${agent.unread} not marked as read` : `${agent.unread} unread by ${agent.name}`}</span></p>${agent.task !== '' && html`<p class="facts-line" dir="auto">${agent.task}</p>`}`

const stateOf = ({ ackedAt, ackRequired }: Box['items'][number]): string | undefined =>
  ackedAt ? 'acknowledged' : ackRequired ? 'to acknowledge' : undefined

type Line = ReturnType<typeof sealedAsOne<Box['items'][number]>>[number]

function line(visit: Visit, { project, agent }: Box, message: Line, here: boolean): Html {
  const unread = here && message.readAt === undefined
  const state = stateOf(message)
  const [id, ...others] = message.ids
  return row(visit, message, {
    home: project.slug,
    unread,
    count: message.count,
    tags: html`${unread && html`<span class="unread-by" title="${agent.name} has not read this">unread</span>`}${state && html`<span class="state small ${message.ackedAt ? 'good' : 'wait'}">${state}</span>`}${message.thread !== undefined && html`<a class="badge mono" href="${threadUrl(message)}" title="Thread ${message.thread}">${message.thread}</a>`}${
      unread &&
      visit.steers &&
      html`<form class="onhover" method="post" action="${at(project.slug, 'inbox', agent.name)}">${proof(visit.csrf)}${others.map((other) => html`<input type="hidden" name="read" value="${other}">`)}<button class="quiet" data-read name="read" value="${id}" title="${isReserved(agent.name) ? 'It no longer counts as new' : `${agent.name} will not be offered this message again`}" aria-label="Mark read: ${message.subject}">Mark read</button></form>`
    }`,
  })
}

const markAll = (visit: Visit, { agent, project }: Box): Html | undefined | false =>
  visit.steers &&
  agent.unread > 0 &&
  html`<form method="post" action="${at(project.slug, 'inbox', agent.name)}">${proof(visit.csrf)}<button class="quiet" name="all" value="1">Mark all as read</button> <span class="hint">${isReserved(agent.name) ? 'They no longer count as new.' : `${agent.name} will not be offered these again.`}</span></form>`
