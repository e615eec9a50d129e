/** Agents on a page: a disc with initials in a hue of their own, and their name as others address them. */
import { isReserved, slugName } from '../../../base/names.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'

export interface Named {
  readonly name: string
  /** The slug of its project. */
  readonly project: string
}

/** The class of its hue. */
export const tint = ({ discOf }: Pick<Visit, 'discOf'>, who: Named): string =>
  isReserved(who.name) ? 'overseer' : discOf(who).hue

export const disc = (visit: Pick<Visit, 'discOf'>, who: Named): Html =>
  html`<span class="disc ${tint(visit, who)}" aria-hidden="true">${visit.discOf(who).initials}</span>`

/** With the project where it is another one than that of the page. */
export const called = ({ name, project }: Named, home?: string): string =>
  home === undefined || project === home ? name : `${name}@${slugName(project)}`

export const inboxOf = ({ name, project }: Named): string => at(project, 'inbox', name)

/** Longer names are cut by the page, and whole on hover. */
const longName = 24

export const agentLink = (who: Named, home?: string): Html =>
  html`<a class="agent" href="${inboxOf(who)}"${called(who, home).length > longName && html` title="${called(who, home)}"`}><bdi>${called(who, home)}</bdi></a>`

/** A path may be broken at its slashes, and is copied whole. */
export const pathShown = (path: string): Html =>
  html`${path.split('/').map((part, place) => html`${place > 0 && html`/<wbr>`}${part}`)}`

/** A subject of characters that nobody sees is none. */
export const subjectShown = (subject: string): string =>
  /[^\p{C}\p{Z}\p{DI}\u2800]/u.test(subject) ? subject : '(no subject)'

/** The name of a thread: its first subject, without the marks of an answer, else its key. */
export function threadTitle(subject: string, key: string | undefined): string {
  const bare = subject.replace(/^\s*(?:(?:re|fwd?|aw)\s*:\s*){1,20}/i, '')
  const title = subjectShown(bare.trim() === '' ? subject : bare)
  return title === '(no subject)' && key !== undefined ? key : title
}

/** `A, B and 3 others`, where the list is long. */
export function names(people: readonly Named[], home: string | undefined, most = 2): string {
  const shown = people.slice(0, most).map((who) => called(who, home))
  const rest = people.length - shown.length
  return rest > 0 ? `${shown.join(', ')} +${rest}` : shown.join(', ')
}

/** A slug whose hash stands back: it only tells projects of one name apart. */
export const slugShown = (slug: string): Html => {
  const name = slugName(slug)
  return html`<span>${name}${name !== slug && html`<span class="hash">${slug.slice(name.length)}</span>`}</span>`
}

/** `Name@slug` without the hash of the project, which says nothing to people. */
export const shortAddress = (address: string): string => {
  const at = address.indexOf('@')
  return at < 0 ? address : `${address.slice(0, at)}@${slugName(address.slice(at + 1))}`
}

export const projectBadge = (slug: string): Html =>
  html`<a class="badge project" href="${at(slug)}" title="${slug}">${slugName(slug)}</a>`

/** The client and model of an agent, as far as they were told. */
export const clientOf = ({ program, model }: { readonly program: string; readonly model: string }): string =>
  [program, model].filter((word) => word !== '' && word !== 'unknown').join(' · ')

/** Between a sender and its recipients. */
export const arrow: Html = html`<span class="arrow" role="img" aria-label="to"></span>`

export const overseerBadge: Html = html`<span class="badge overseer">Overseer</span>`
