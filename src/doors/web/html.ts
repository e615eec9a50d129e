/** The template tag of the pages: strings are always escaped, and nothing but text, numbers and Html can be put in (web.html.escaped). */

/** Markup that may stand in a page as it is. Only this file makes one. */
export class Html {
  readonly #markup: string

  constructor(markup: string, key: typeof made) {
    if (key !== made) throw new Error('Html is made by its tag')
    this.#markup = markup
  }

  toString(): string {
    return this.#markup
  }
}

const made = Symbol('made')

/** `undefined` and `false` are nothing, so that `cond && html…` can be written. */
type Part = Html | string | number | undefined | false | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let markup = strings[0] ?? ''
  for (let at = 0; at < parts.length; at++) markup += markupOf(parts[at]) + (strings[at + 1] ?? '')
  return new Html(markup, made)
}

function markupOf(part: Part): string {
  if (typeof part === 'string') return escaped(part)
  if (typeof part === 'number') return String(part)
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.toString()
  let markup = ''
  for (const one of part) markup += markupOf(one)
  return markup
}

/** For markup that was made safe elsewhere: the rendered bodies of messages, and nothing else. */
export const raw = (markup: string): Html => new Html(markup, made)

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/**
 * Marks that turn the direction of text around would let one name pass for another beside it: they are shown as a sign. A
 * control character is no character of HTML.
 */
const special = /[&<>"'`]|[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu

const escaped = (text: string): string => text.replace(special, (char) => entities[char] ?? '\ufffd')
