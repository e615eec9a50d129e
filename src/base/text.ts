/** Text from outside: checked before it is stored (all.size.text), cut before it is repeated in an error (all.errors.short). */
import { limits } from './limits.ts'

/** Why a message body is refused, or undefined when it is fine. Nothing is ever cut. */
export function bodyFault(text: string): string | undefined {
  if (text.length === 0) return 'must not be empty'
  // A JavaScript character is at most three bytes of UTF-8: short texts need no counting.
  if (text.length * 3 > limits.bodyBytes && Buffer.byteLength(text) > limits.bodyBytes)
    return `must have at most ${limits.bodyBytes} bytes, this one has ${Buffer.byteLength(text)}`
  return textFault(text)
}

/** Why a text cannot be stored as it is: PostgreSQL takes no U+0000, UTF-8 no half of a surrogate pair. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character U+0000'
  if (!text.isWellFormed()) return 'must not contain half of a surrogate pair'
  return undefined
}

/** Why a JSON object that comes along with a message or topic cannot be kept. */
export function metadataFault(value: unknown): string | undefined {
  try {
    const json = JSON.stringify(value)
    if (json.length > limits.metadataLength)
      return `must have at most ${limits.metadataLength} characters as JSON; it has ${json.length}`
    return textFault(json)
  } catch {
    return 'is nested too deeply'
  }
}

const visible = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]*[^\p{C}\p{Z}])?$/u

/** Why an id given by a client is refused: it has visible characters only, and spaces only between them. */
export function clientIdFault(id: string): string | undefined {
  const most = limits.clientIdLength
  // A character is at most two of JavaScript's: what is far too long needs no counting.
  if (id.length > 2 * most || [...id].length > most) return `must have at most ${most} characters`
  return visible.test(id) ? undefined : `must be 1 to ${most} visible characters`
}

/** Why a link is refused: a reader may follow it, so it leads to the web or to something of a hub (hub.send.links). */
export function linkFault(uri: string): string | undefined {
  if (uri.length > limits.linkLength) return `must have at most ${limits.linkLength} characters`
  if (/^data:/i.test(uri)) return 'must be the address of something, not the thing itself'
  return /^(?:https?|resource|apm2):\/\/[^\s\p{Cc}]+$/iu.test(uri)
    ? undefined
    : 'must be a URI that begins with https://, http://, apm2:// or resource://'
}

/** A text from outside as an error repeats it: its beginning, where it is long. */
export const echo = (text: string): string => cut(text, limits.echoLength)

/** At most `most` characters, the last of which says that there were more. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`

/** A message without a subject goes by its first line. */
export const firstLine = (text: string): string => (text.includes('\n') ? (text.trim().split('\n', 1)[0] ?? '') : text)
