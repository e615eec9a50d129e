/** Messages as lines of a list: who to whom, the subject with the beginning of the text, what is special, and when. */
import { isNew } from '../../../core/pages/marks.ts'
import type { PageMessage } from '../../../core/pages/page-message.ts'
import { plainly } from '../../../fulltext/plain.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { icon } from './icons.ts'
import { arrow, disc, type Named, names, overseerBadge, pathShown, projectBadge, subjectShown } from './people.ts'
import { clockTime, shortTime } from './times.ts'

interface RowOptions {
  /** The project of the page: its badge and its name after agents are left out. */
  readonly home?: string | undefined
  /** Where the line leads: to the message, if left out. */
  readonly href?: string
  /** In the inbox of an agent: it has not read this. */
  readonly unread?: boolean
  /** How many messages stand behind it. */
  readonly count?: number | undefined
  /** Stands before the time: badges and buttons of the page. */
  readonly tags?: Html | undefined
  /** In place of the subject and the beginning of the text, with what is marked in them. */
  readonly told?: { readonly subject: Html; readonly excerpt: Html } | undefined
}

export const messageUrl = ({ project, id }: Pick<PageMessage, 'project' | 'id'>): string => at(project, 'message', id)

export const threadUrl = ({ project, thread, id }: Pick<PageMessage, 'project' | 'thread' | 'id'>): string =>
  at(project, 'thread', thread ?? String(id))

/** Unread is by agents, and says so; what is new to the person who looks is bold (web.new.words). */
export function unreadBy({ unread }: Pick<PageMessage, 'unread'>): Html | undefined {
  if (unread === 0) return undefined
  const says = unread === 1 ? '1 agent has not read this' : `${unread} agents have not read this`
  return html`<span class="unread-by" title="${says}"><span aria-hidden="true">unread by ${unread}</span><span class="visually-hidden">${says}</span></span>`
}

/** The dot before a line. */
export const newDot = (fresh: boolean): Html =>
  html`<span class="dot">${fresh && html`<span class="visually-hidden">New to you</span>`}</span>`

/** Between what came since the last visit and what was there before, in a list with the newest first. */
export function sinceLine<Item extends { readonly id: number }>(
  visit: Visit,
  items: readonly Item[],
  line: (item: Item) => Html,
): Html[] {
  const { floor, since } = visit.marks
  const old = items.findIndex(({ id }) => id <= floor)
  if (old < 1) return items.map(line)
  const divider = html`<li class="since"><span>New since ${clockTime(visit, since)}</span></li>`
  return [...items.slice(0, old).map(line), divider, ...items.slice(old).map(line)]
}

export const importanceBadge = ({ importance }: Pick<PageMessage, 'importance'>): Html | undefined =>
  importance === 'urgent' || importance === 'high'
    ? html`<span class="badge ${importance}">${importance}</span>`
    : undefined

/** The type of a message in a topic, in its sender's word. */
export const typeBadge = ({ messageType }: Pick<PageMessage, 'messageType'>): Html | undefined =>
  messageType === undefined ? undefined : html`<span class="badge type">${messageType}</span>`

export function row(visit: Visit, message: PageMessage, options: RowOptions = {}): Html {
  const { home, href = messageUrl(message), unread = false, count, tags, told } = options
  const { from, to, cc, sealed, overseer, attachments, topic } = message
  const scope = home ?? message.project
  const fresh = isNew(visit.marks, message)
  const recipients = topic === undefined ? names([...to, ...cc], scope) : ''
  return html`<li class="row${fresh && ' new'}${unread && ' unread'}${overseer && ' of-overseer'}${sealed && ' sealed'}${told && ' tall'}" data-row id="r-${message.id}">
${newDot(fresh)}${disc(visit, from)}
<span class="who"><b><bdi>${names([from], scope)}</bdi></b>${message.author && html` <bdi class="author">${message.author}</bdi>`}${recipients !== '' && html`${arrow}<bdi>${recipients}</bdi>`}</span>
<span class="what"><a class="subject" href="${href}" dir="auto">${sealed ? 'Sealed: between agents with keys' : told ? told.subject : pathShown(subjectShown(message.subject))}</a>${
    !sealed &&
    (told || message.excerpt !== '') &&
    html`<span class="excerpt" dir="auto">${told ? told.excerpt : pathShown(plainly(message.excerpt))}</span>`
  }</span>
<span class="tags">${tags}${!unread && unreadBy(message)}${typeBadge(message)}${importanceBadge(message)}${overseer && overseerBadge}${attachments.length > 0 && html`<span title="${attachments.length} attached">${icon(visit, 'clip')}<span class="visually-hidden">${attachments.length} attached</span></span>`}${
    count !== undefined && count > 1 && html`<span class="number" title="${count} messages">${count}</span>`
  }${home === undefined && projectBadge(message.project)}</span>
<span class="when">${shortTime(visit, message.createdAt)}</span></li>`
}

/** Sealed mail of the same agents is one line, that of its newest: nothing else tells the messages apart, but what the page tells of them. */
export function sealedAsOne<Item extends PageMessage & { readonly count?: number }>(
  items: readonly Item[],
  told: (item: Item) => string = () => '',
): (Item & { readonly count?: number; readonly ids: readonly number[] })[] {
  const parties = (item: Item): string =>
    JSON.stringify([...[item.from, ...item.to, ...item.cc].map(written).sort(), told(item)])
  const counts = Map.groupBy(
    items.filter(({ sealed }) => sealed),
    parties,
  )
  return items.flatMap((item) => {
    if (!item.sealed) return [{ ...item, ids: [item.id] }]
    const alike = counts.get(parties(item)) ?? []
    const ids = alike.map(({ id }) => id)
    return alike[0] === item ? [{ ...item, ids, count: alike.reduce((sum, { count = 1 }) => sum + count, 0) }] : []
  })
}

const written = ({ name, project }: Named): string => `${name}@${project}`

export const rows = (items: readonly Html[]): Html => html`<ul class="rows">${items}</ul>`
