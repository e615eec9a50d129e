/** Messages as lines of a list: who to whom, the subject with the beginning of the text, what is special, and when. */
import type { PageMessage } from '../../../core/pages/page-message.ts'
import { plainly } from '../../../fulltext/plain.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { icon } from './icons.ts'
import { arrow, disc, type Named, names, overseerBadge, pathShown, projectBadge, subjectShown } from './people.ts'
import { shortTime } from './times.ts'

interface RowOptions {
  /** The project of the page: its badge and its name after agents are left out. */
  readonly home?: string | undefined
  /** Where the line leads: to the message, if left out. */
  readonly href?: string
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

/** A person's own words are not news to people. */
export const isUnread = ({ unread, overseer }: Pick<PageMessage, 'unread' | 'overseer'>): boolean =>
  unread > 0 && !overseer

export const importanceBadge = ({ importance }: Pick<PageMessage, 'importance'>): Html | undefined =>
  importance === 'urgent' || importance === 'high'
    ? html`<span class="badge ${importance}">${importance}</span>`
    : undefined

/** The type of a message in a topic, in its sender's word. */
export const typeBadge = ({ messageType }: Pick<PageMessage, 'messageType'>): Html | undefined =>
  messageType === undefined ? undefined : html`<span class="badge type">${messageType}</span>`

export function row(visit: Visit, message: PageMessage, options: RowOptions = {}): Html {
  const { home, href = messageUrl(message), unread = isUnread(message), count, tags, told } = options
  const { from, to, cc, sealed, overseer, attachments, topic } = message
  const scope = home ?? message.project
  const recipients = topic === undefined ? names([...to, ...cc], scope) : ''
  return html`<li class="row${unread && ' unread'}${overseer && ' of-overseer'}${sealed && ' sealed'}${told && ' tall'}" data-row id="r-${message.id}">
<span class="dot">${unread && html`<span class="visually-hidden">Unread</span>`}</span>${disc(visit, from)}
<span class="who"><b><bdi>${names([from], scope)}</bdi></b>${recipients !== '' && html`${arrow}<bdi>${recipients}</bdi>`}</span>
<span class="what"><a class="subject" href="${href}" dir="auto">${sealed ? 'Sealed: between agents with keys' : told ? told.subject : pathShown(subjectShown(message.subject))}</a>${
    !sealed &&
    (told || message.excerpt !== '') &&
    html`<span class="excerpt" dir="auto">${told ? told.excerpt : pathShown(plainly(message.excerpt))}</span>`
  }</span>
<span class="tags">${tags}${typeBadge(message)}${importanceBadge(message)}${overseer && overseerBadge}${attachments.length > 0 && html`<span title="${attachments.length} attached">${icon(visit, 'clip')}<span class="visually-hidden">${attachments.length} attached</span></span>`}${
    count !== undefined && count > 1 && html`<span class="number" title="${count} messages">${count}</span>`
  }${home === undefined && projectBadge(message.project)}</span>
<span class="when">${shortTime(visit, message.createdAt)}</span></li>`
}

/** Sealed mail of the same agents is one line, that of its newest: nothing else tells the messages apart. */
export function sealedAsOne<Item extends PageMessage & { readonly count?: number }>(
  items: readonly Item[],
): (Item & { readonly count?: number })[] {
  const parties = ({ from, to, cc }: Item): string => JSON.stringify([from, ...to, ...cc].map(written).sort())
  const counts = Map.groupBy(
    items.filter(({ sealed }) => sealed),
    parties,
  )
  return items.flatMap((item) => {
    if (!item.sealed) return [item]
    const alike = counts.get(parties(item)) ?? []
    return alike[0] === item ? [{ ...item, count: alike.reduce((sum, { count = 1 }) => sum + count, 0) }] : []
  })
}

const written = ({ name, project }: Named): string => `${name}@${project}`

export const rows = (items: readonly Html[]): Html => html`<ul class="rows">${items}</ul>`
