/** `/mail/search` and `/mail/{project}/search`: messages by their words, with filters that can be taken away one by one. */
import { z } from 'zod'
import { slugName } from '../../../base/names.ts'
import { searchMail } from '../../../core/pages/search.ts'
import { needProject } from '../../../core/projects/projects.ts'
import type { Excerpt } from '../../../fulltext/excerpt.ts'
import { marked } from '../../../fulltext/excerpt.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { pager } from '../parts/pager.ts'
import { pathShown, shortAddress, subjectShown } from '../parts/people.ts'
import { projectHead } from '../parts/project-head.ts'
import { row, rows, threadUrl } from '../parts/rows.ts'
import { searchForm } from '../parts/search-form.ts'
import { monthName } from '../parts/times.ts'
import { flag, importance, limit, oneOf, pageNumber, text, time } from '../query.ts'
import { nextUrl, toMessage } from '../shapes.ts'
import { at, urlWith, type Visit, withQuery } from '../site.ts'

const query = z.object({
  q: text,
  project: text,
  scope: oneOf(['subject', 'body', 'both']).optional(),
  order: oneOf(['relevance', 'time']).optional(),
  boost: flag,
  from: text,
  to: text,
  importance,
  unread: flag,
  attachments: flag,
  since: time,
  until: time,
  page: pageNumber,
  limit,
})

type Found = Awaited<ReturnType<typeof searchMail>>

export const page = definePage({
  query,
  async load({ hub, caller }, { q = '', until, ...wish }, params) {
    const slug = params.project === undefined ? undefined : (await needProject(hub, caller, params.project)).slug
    const project = slug ?? wish.project
    const asked =
      q !== '' ||
      [wish.from, wish.to, wish.importance, wish.unread, wish.attachments, wish.since, until].some(
        (one) => one !== undefined,
      )
    const found = asked
      ? await searchMail(hub, caller, {
          ...wish,
          query: q,
          project,
          until: until === undefined ? undefined : endOf(until),
        })
      : undefined
    return { slug, found }
  },
  json: ({ data: { found }, query: { q = '' }, visit }) => ({
    query: q,
    results: (found?.results ?? []).map((hit) => ({
      ...toMessage(hit),
      snippet: marked(hit.snippet),
      score: hit.score,
    })),
    facets: found?.facets ?? { project: [], sender: [], importance: [], month: [] },
    total: found?.total ?? 0,
    ...(found?.capped && { capped: true }),
    next: moreUrl(visit, found),
    ...(found?.note !== undefined && { note: found.note }),
    ...(found?.suggestion !== undefined && { suggestion: found.suggestion }),
  }),
  view: ({ data: { slug, found }, query: wish, visit }) => {
    const days = { since: visit.query.get('since') ?? undefined, until: visit.query.get('until') ?? undefined }
    const form = searchForm({ ...wish, ...days, project: slug })
    return {
      title: wish.q ? `${wish.q}: search` : 'Search',
      here: slug === undefined ? 'search' : undefined,
      project: slug,
      up: slug === undefined ? '/mail' : at(slug),
      main: html`${slug === undefined ? html`<div class="head"><h1>Search</h1></div>` : projectHead(visit, { project: slug, title: 'Search', tab: 'search' })}
${form}${found && html`<div class="search-head">${pills(visit, found, wish)}${totalOf(found)}${keepSearch(visit, wish.q)}</div>`}${found?.note && html`<p class="notice">${found.note}</p>`}${found ? results(visit, found, slug) : hints}`,
    }
  },
})

/** A day that is named ends at its end. */
const endOf = (time: number): number => (time % 86_400_000 === 0 ? time + 86_399_999 : time)

function moreUrl(visit: Visit, found: Found | undefined): string | null {
  if (found?.next === undefined) return null
  return nextUrl(visit, found.next, 'page')
}

function previousUrl(visit: Visit): string | null {
  const page = Number(visit.query.get('page') ?? 1)
  return page > 1 ? urlWith(visit, { page: page === 2 ? undefined : page - 1 }) : null
}

function results(visit: Visit, found: Found, slug: string | undefined): Html {
  if (found.suggestion !== undefined)
    return html`<div class="empty"><h2>Nothing found</h2><p>No message has these words, but others begin with them: <a href="${urlWith(visit, { page: undefined, q: found.suggestion })}"><b>${found.suggestion}</b></a></p></div>`
  if (found.results.length === 0)
    return empty('Nothing found', 'Try fewer or simpler words, take a filter away, or look in both subject and body.')
  return html`${facets(visit, found, slug)}<h2 class="visually-hidden">Results</h2>${rows(
    found.results.map((hit) =>
      row(visit, hit, {
        home: slug,
        told: {
          subject: hit.title.matches.length === 0 ? pathShown(subjectShown(hit.subject)) : shown(hit.title),
          excerpt: shown(hit.snippet),
        },
        tags: html`<a class="badge mono" href="${withQuery(threadUrl(hit), { at: hit.id })}#m-${hit.id}" title="Thread ${hit.thread ?? hit.id}">${hit.topic ?? hit.thread ?? `#${hit.id}`}</a>`,
      }),
    ),
  )}${pager({ older: moreUrl(visit, found), newer: previousUrl(visit) })}`
}

/** Messages, each once, however many agents got it. */
function totalOf({ total, capped }: Found): Html | undefined {
  if (total === 0) return undefined
  return html`<p class="total" role="status">${capped && 'At least '}${total} ${total === 1 ? 'message' : 'messages'}</p>`
}

/** The search as it stands, without the page of its results. */
function keepSearch(visit: Visit, q = ''): Html | undefined {
  const { marks, csrf, query } = visit
  const path = urlWith(visit, { page: undefined, done: undefined })
  if (path === visit.path) return undefined
  const kept = marks.searches.some((one) => one.path === path)
  const title = q === '' ? query.toString() : q
  return html`<form method="post" action="/mail/saved-searches">${proof(csrf)}<input type="hidden" name="title" value="${title}"><button class="quiet" name="${kept ? 'forget' : 'save'}" value="${path}">${kept ? 'Remove from saved' : 'Save search'}</button></form>`
}

/** Marks the words that were found. */
function shown({ text, matches }: Excerpt): Html {
  const parts: Html[] = []
  let at = 0
  for (const [from, to] of matches) {
    parts.push(html`${text.slice(at, from)}<mark>${text.slice(from, to)}</mark>`)
    at = to
  }
  return html`${parts}${text.slice(at)}`
}

/** Each word and filter, with a link that takes it away. */
function pills(visit: Visit, { tokens }: Found, wish: z.output<typeof query>): Html {
  const fresh = { page: undefined }
  const pill = (says: string, href: string) =>
    html`<a class="pill" href="${href}" aria-label="Remove ${says}"><span>${says}</span><span class="x" aria-hidden="true">×</span></a>`
  const filters = (
    [
      'project',
      'scope',
      'from',
      'to',
      'importance',
      'unread',
      'attachments',
      'since',
      'until',
      'order',
      'boost',
    ] as const
  )
    .filter((name) => wish[name] !== undefined && wish[name] !== false && visit.query.get(name))
    .map((name) => {
      const value = visit.query.get(name) ?? ''
      return pill(value === '1' ? name : `${name}: ${value}`, urlWith(visit, { ...fresh, [name]: undefined }))
    })
  const words = tokens.map(({ text, without }) => pill(text, urlWith(visit, { ...fresh, q: without })))
  if (words.length + filters.length === 0) return html``
  return html`<div class="filters" role="group" aria-label="What is searched for">${words}${filters}</div>`
}

/** How many there are of each; a link narrows the search down to it. */
function facets(visit: Visit, { facets: found, capped }: Found, slug: string | undefined): Html {
  const fresh = { page: undefined }
  const facet = (
    title: string,
    counts: readonly { value: string; count: number }[],
    link: (value: string) => string,
    says = (value: string) => value,
  ) =>
    counts.length > 1 &&
    html`<div><h2>${title}</h2>${counts.slice(0, 6).map(({ value, count }) => html`<a href="${link(value)}"><span>${says(value)}</span><span class="number soft">${count}${capped && '+'}</span></a>`)}</div>`
  const shown = [
    slug === undefined &&
      facet('Project', found.project, (value) => urlWith(visit, { ...fresh, project: value }), slugName),
    facet('Sender', found.sender, (value) => urlWith(visit, { ...fresh, from: value }), shortAddress),
    facet('Importance', found.importance, (value) => urlWith(visit, { ...fresh, importance: value })),
    facet(
      'Month',
      found.month,
      (value) => urlWith(visit, { ...fresh, since: `${value}-01`, until: lastDay(value) }),
      monthName,
    ),
  ].filter((one) => one !== false)
  return shown.length === 0
    ? html``
    : html`<details class="narrowing"><summary>Narrow down</summary></details><div class="facets">${shown}</div>`
}

function lastDay(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
}

const hints = html`<div class="empty"><h2>Look for words</h2><p>All words must be there. <code>"build plan"</code> is a phrase, <code>migr*</code> a beginning, <code>-draft</code> must not be there; <code>OR</code> and parentheses work. <code>subject:</code> <code>body:</code> <code>from:</code> <code>to:</code> <code>thread:</code> <code>project:</code> name a field.</p><p><code>is:unread</code> <code>is:unacked</code> <code>is:sealed</code> <code>has:attachment</code> <code>importance:high</code> <code>type:question</code> <code>after:2026-11-01</code> <code>before:2026-12-01</code> choose among messages, and <code>-is:unread</code> leaves them out.</p></div>`
