/** JSON from outside: what would stall or break whoever reads it is refused by a look at its bytes, before it is parsed. */
import { isUtf8 } from 'node:buffer'
import { HubError } from './errors.ts'
import { limits } from './limits.ts'

/** Throws a SyntaxError where it is no JSON in UTF-8, and INVALID_ARGUMENT where it is too deep, wide or long. */
export function readJson(bytes: Buffer): unknown {
  const large = bytes.length > smallBytes
  if (large) refuse(heaviness(bytes))
  const text = bytes.toString()
  // Bytes that are no UTF-8 become U+FFFD; a text without it, which is almost every one, need not be looked through again.
  if (text.includes('\ufffd') && !isUtf8(bytes)) throw new SyntaxError('The text is not valid UTF-8')
  const value: unknown = JSON.parse(text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text)
  if (!large && mayBeDeep(text) && isDeeper(value, limits.jsonDepth)) refuse(tooDeep)
  if (!large && Array.isArray(value) && value.length > limits.batchMessages) refuse(tooLong)
  return value
}

/** The same of JSON that stands in a text, such as an argument that a model wrote as one. */
export function readJsonText(text: string): unknown {
  if (text.length > smallBytes) refuse(heaviness(Buffer.from(text), Number.POSITIVE_INFINITY))
  const value: unknown = JSON.parse(text)
  if (text.length <= smallBytes && mayBeDeep(text) && isDeeper(value, limits.jsonDepth)) refuse(tooDeep)
  return value
}

/** The value of a text that may be no JSON; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parsing so little is harmless, its objects cannot have too many keys, and a walk over the values is cheaper than one over the bytes. */
const smallBytes = 4 * limits.jsonKeys

/** Some programs on Windows begin with it. */
const byteOrderMark = 0xfeff

const tooDeep = `is nested deeper than ${limits.jsonDepth} levels`
const tooWide = `has an object with more than ${limits.jsonKeys} keys`
const tooMany = `has more than ${limits.jsonParts} objects and lists`
const tooLong = `is a batch that must not exceed ${limits.batchMessages} messages`

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new HubError('INVALID_ARGUMENT', `The request ${fault}.`, { reason: 'too_heavy' })
}

/** Each level takes a bracket. To look for them is cheaper than to walk over values, whose shapes differ from call to call (7 µs of a send). */
function mayBeDeep(text: string): boolean {
  let left = limits.jsonDepth
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (left-- === 0) return true
  return false
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const key in value) if (isDeeper(value[key as keyof typeof value], levels - 1)) return true
  return false
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * The reason to refuse these bytes, in one pass; they need not be JSON: 10 ms for 4 MiB at worst. Parsing 4 MiB of `[[[[…`
 * took 1.4 s, and walking it ended the process; 600,000 objects took a second.
 */
function heaviness(bytes: Uint8Array, mostInBatch: number = limits.batchMessages): string | undefined {
  /** The keys so far in each object that is open; in a list nothing counts them. */
  const keys = new Uint32Array(limits.jsonDepth + 1)
  let depth = 0
  let parts = 0
  let batch = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === quote) at = endOfString(bytes, at + 1)
    else if (byte === openObject || byte === openList) {
      depth++
      if (depth > limits.jsonDepth) return tooDeep
      parts++
      if (parts > limits.jsonParts) return tooMany
      keys[depth] = 0
      if (depth === 1) batch = byte === openList ? 1 : 0
    } else if (byte === closeObject || byte === closeList) depth = Math.max(0, depth - 1)
    else if (byte === colon) {
      keys[depth] = (keys[depth] ?? 0) + 1
      if ((keys[depth] ?? 0) > limits.jsonKeys) return tooWide
    } else if (byte === comma && depth === 1 && batch > 0) {
      batch++
      if (batch > mostInBatch) return tooLong
    }
  }
  return undefined
}

/** Bytes that are looked at one by one; a search by the machine then pays, unless it stops at each `\"`. */
const shortString = 64

/** Where the quote is that ends a string, which begins at `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    const end = Math.min(bytes.length, at + shortString)
    for (; at < end; at++) {
      const byte = bytes[at]
      if (byte === quote) return at
      if (byte === backslash) at++
    }
    if (at >= bytes.length) return at
    const next = bytes.indexOf(quote, at)
    if (next < 0) return bytes.length
    // An even number of backslashes before it escape each other.
    let slashes = 0
    while (next - 1 - slashes >= at && bytes[next - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return next
    at = next + 1
  }
}
