/** Agents on a page: a disc with initials in a hue of their own, and their name as others address them. */
import { isReserved, nameKey, slugName } from '../../../base/names.ts'
import { type Html, html } from '../html.ts'
import { at } from '../site.ts'

export interface Named {
  readonly name: string
  /** The slug of its project. */
  readonly project: string
}

export const hues = 16

/** Stable for a name, whatever else is on the page: FNV-1a over its letters. */
export function hueOf(name: string): number {
  let hash = 0x811c9dc5
  for (const char of nameKey(name)) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0) % hues
}

/** The capitals of `GreenCastle`, else the beginnings of the first two words, else the first two letters. */
export function initials(name: string): string {
  const capitals = [...name.matchAll(/\p{Lu}/gu)].map(([letter]) => letter)
  if (capitals.length >= 2) return capitals.slice(0, 2).join('')
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '', second] = words
  if (second !== undefined) return `${[...first][0] ?? ''}${[...second][0] ?? ''}`.toUpperCase()
  return [...first].slice(0, 2).join('').toUpperCase() || '·'
}

export const disc = (name: string): Html =>
  html`<span class="disc ${isReserved(name) ? 'overseer' : `h${hueOf(name)}`}" aria-hidden="true">${initials(name)}</span>`

/** With the project where it is another one than that of the page. */
export const called = ({ name, project }: Named, home?: string): string =>
  home === undefined || project === home ? name : `${name}@${slugName(project)}`

export const inboxOf = ({ name, project }: Named): string => at(project, 'inbox', name)

export const agentLink = (who: Named, home?: string): Html =>
  html`<a class="agent" href="${inboxOf(who)}"><bdi>${called(who, home)}</bdi></a>`

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

/** Between a sender and its recipients. */
export const arrow: Html = html`<span class="arrow" role="img" aria-label="to"></span>`

export const overseerBadge: Html = html`<span class="badge overseer">Overseer</span>`
