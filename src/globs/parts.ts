/** The grammar of path patterns: text in, parts out, or what is wrong with it. */

type Ranges = readonly (readonly [first: number, last: number])[]

/** A set of code points, never the slash. */
export interface Characters {
  /** Sorted, and none touches another. */
  readonly ranges: Ranges
  /** The only one, if it has one only. */
  readonly single: number | undefined
  readonly dot: boolean
  /** One that is no dot. */
  readonly letter: string | undefined
}

export type Part =
  | { readonly kind: 'one'; readonly of: Characters }
  | { readonly kind: 'slash' }
  /** Any characters of one segment, or none. */
  | { readonly kind: 'star' }
  /** As a whole segment, any number of segments; within one, the same as a star. */
  | { readonly kind: 'stars' }
  | { readonly kind: 'either'; readonly options: readonly (readonly Part[])[] }

export interface Parsed {
  readonly parts: readonly Part[]
  /** Where in the text the first wildcard begins and the last one ends; undefined if there is none. */
  readonly wild: { readonly from: number; readonly to: number } | undefined
  /** Whether it has no wildcards but brackets: as it is written, it is a path. */
  readonly path: boolean
}

/** Continues the sentence `The pattern "x" …`. */
export class GlobFault extends Error {}

const dot = 0x2e
const slash = 0x2f
const last = 0x10ffff

function characters(ranges: Ranges): Characters {
  const [first] = ranges
  const letter = intersect(ranges, [[0x61, 0x7a]])[0]?.[0] ?? exampleOf(ranges)
  return {
    ranges,
    single: ranges.length === 1 && first?.[0] === first?.[1] ? first?.[0] : undefined,
    dot: ranges.some(([from, to]) => from <= dot && dot <= to),
    letter: letter === undefined ? undefined : String.fromCodePoint(letter),
  }
}

function exampleOf(ranges: Ranges): number | undefined {
  for (const [from, to] of ranges) {
    if (from !== dot) return from
    if (to > dot) return from + 1
  }
  return undefined
}

const none: Characters = { ranges: [], single: undefined, dot: false, letter: undefined }

export const anyCharacter = characters([
  [1, slash - 1],
  [slash + 1, last],
])

const ascii = Array.from({ length: 128 }, (_, code) => just(code))

function just(code: number): Characters {
  const letter = code === dot ? undefined : String.fromCodePoint(code)
  return { ranges: [[code, code]], single: code, dot: code === dot, letter }
}

function single(character: string): Characters {
  const code = character.codePointAt(0) ?? 0
  return ascii[code] ?? just(code)
}

/** Parts that match this text and nothing else. */
export const literally = (text: string): Part[] =>
  [...text].map((character) => (character === '/' ? { kind: 'slash' } : { kind: 'one', of: single(character) }))

/** Deeper nesting says nothing that a list could not. */
const deepest = 8
/** Literal characters cost little; with so many wildcards, two long patterns are compared in some 10 ms at worst. */
const most = 16

export function parseParts(text: string): Parsed {
  let at = 0
  let wild: { from: number; to: number } | undefined
  let wildcards = 0
  let path = true
  const parts = sequence(0)
  return { parts, wild, path }

  function sequence(depth: number): Part[] {
    const parts: Part[] = []
    while (at < text.length) {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
      if (depth > 0 && (character === ',' || character === '}')) break
      const from = at
      const part = next(character, depth)
      if (Array.isArray(part)) parts.push(...part)
      else {
        parts.push(part)
        if (!isWild(character)) continue
        wild = { from: Math.min(wild?.from ?? from, from), to: at }
        path &&= character === '['
        if (++wildcards > most) throw new GlobFault(`must have at most ${most} wildcards`)
      }
    }
    return parts
  }

  function next(character: string, depth: number): Part | Part[] {
    if (character === '[') return brackets()
    if (character === '{') return braces(depth)
    at += character.length
    if (character === '/') return { kind: 'slash' }
    if (character === '?') return { kind: 'one', of: anyCharacter }
    if (character !== '*') return { kind: 'one', of: single(character) }
    const first = at
    while (text[at] === '*') at++
    return { kind: at > first ? 'stars' : 'star' }
  }

  /** As in a shell, braces without a comma stand for themselves: templates are called `{{name}}`. */
  function braces(depth: number): Part | Part[] {
    if (depth === deepest) throw new GlobFault(`must not nest "{" more than ${deepest} deep`)
    const from = at++
    const options = [sequence(depth + 1)]
    while (text[at] === ',') {
      at++
      options.push(sequence(depth + 1))
    }
    if (text[at] !== '}') throw new GlobFault('has a "{" without its "}"; to mean the character itself, write [{]')
    at++
    if (options.length > 1) return { kind: 'either', options }
    if (/^\{[^{}/]*\.\.[^{}/]*\}$/.test(text.slice(from, at)))
      throw new GlobFault('has a range in braces; list the values, as in {1,2,3}')
    return [...literally('{'), ...(options[0] ?? []), ...literally('}')]
  }

  /**
   * A class, or what is written: folders are called `[id]`, too (mail.lease.brackets). What is no class is only text: the
   * bracket alone where nothing closes it in its segment, else all up to its end.
   */
  function brackets(): Part | Part[] {
    const close = text.indexOf(']', at + (/^\[[!^]/.test(text.slice(at, at + 2)) ? 3 : 2))
    const inside = text.slice(at + 1, close)
    if (close < 0 || inside.includes('/')) {
      at++
      return literally('[')
    }
    const written = literally(text.slice(at, close + 1))
    at = close + 1
    const negated = /^[!^]/.test(inside)
    const listed = inside.includes('[:') ? undefined : ranges([...(negated ? inside.slice(1) : inside)])
    if (listed === undefined) return written
    const merged = merge(listed)
    const of = characters(intersect(negated ? inverse(merged) : merged, anyCharacter.ranges))
    return { kind: 'either', options: [[{ kind: 'one', of }], written] }
  }
}

const isWild = (character: string): boolean => '*?[{'.includes(character)

/** Undefined if one of them runs backwards. */
function ranges(characters: readonly string[]): [number, number][] | undefined {
  const found: [number, number][] = []
  for (let at = 0; at < characters.length; at++) {
    const from = characters[at] ?? ''
    const ranged = characters[at + 1] === '-' && at + 2 < characters.length
    const to = ranged ? (characters[at + 2] ?? '') : from
    const range: [number, number] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0]
    if (range[0] > range[1]) return undefined
    found.push(range)
    if (ranged) at += 2
  }
  return found
}

function merge(unsorted: readonly [number, number][]): Ranges {
  const merged: [number, number][] = []
  for (const [from, to] of unsorted.toSorted(([a], [b]) => a - b)) {
    const previous = merged.at(-1)
    if (previous !== undefined && from <= previous[1] + 1) previous[1] = Math.max(previous[1], to)
    else merged.push([from, to])
  }
  return merged
}

function inverse(of: Ranges): Ranges {
  const rest: [number, number][] = []
  let from = 1
  for (const [first, end] of of) {
    if (first > from) rest.push([from, first - 1])
    from = end + 1
  }
  if (from <= last) rest.push([from, last])
  return rest
}

/** The characters that are in both. */
export function common(some: Characters, others: Characters): Characters {
  if (some === others || others === anyCharacter) return some
  if (some === anyCharacter) return others
  if (some.single !== undefined && others.single !== undefined) return some.single === others.single ? some : none
  return characters(intersect(some.ranges, others.ranges))
}

function intersect(some: Ranges, others: Ranges): Ranges {
  const both: [number, number][] = []
  for (let a = 0, b = 0; ; ) {
    const [one, other] = [some[a], others[b]]
    if (one === undefined || other === undefined) return both
    const [from, to] = [Math.max(one[0], other[0]), Math.min(one[1], other[1])]
    if (from <= to) both.push([from, to])
    if (one[1] < other[1]) a++
    else b++
  }
}
