/** The language of search: terms, "phrases", prefix*, AND OR NOT, -term, parentheses, field:term. Filters (filters.ts) are taken out before; anything else is literal text. */
import { wordsOf } from './words.ts'

export const fields = ['subject', 'body', 'from', 'thread'] as const

export type Field = (typeof fields)[number]

/** Words that stand in a row; `auth-service` is two of them. */
export interface Phrase {
  readonly kind: 'phrase'
  readonly words: readonly string[]
  /** The last word is the beginning of one. */
  readonly prefix: boolean
  /** Without a field: subject or body. */
  readonly field: Field | undefined
}

/** `but` holds the operands of `NOT`: they can only take away from something, never be the whole query. */
export type Query =
  | Phrase
  | { readonly kind: 'and'; readonly all: readonly Query[]; readonly but: readonly Query[] }
  | { readonly kind: 'or'; readonly any: readonly Query[] }

/** More words than this are not looked up: each costs time, and the first words of a pasted page name it well enough. */
const maxWords = 32

/** Deeper parentheses are literal, that is, they part words. */
const maxDepth = 16

/** A prefix is dear, and with one letter it would fit a tenth of everything: others than these are whole words. */
const minPrefix = 2
const maxPrefixes = 3

/** A query as it is read. */
interface Reading {
  /**
   * Undefined if there is nothing to look for: no word at all, or only what must not be there. Of `a OR NOT b`, which fits
   * nearly everything, `a` is looked for.
   */
  readonly query: Query | undefined
  /** Tells the caller which part of the query finds nothing, or is read otherwise than it seems (mail.search.notes). */
  readonly note: string | undefined
}

export function readQuery(text: string): Reading {
  const parser = new Parser(lex(text))
  const found = parser.either()
  const query = found?.not === true ? namedIn(found.query) : found?.query
  return { query, note: noteOn(query, found, parser.dangling) }
}

export const parseQuery = (text: string): Query | undefined => readQuery(text).query

/** The words to look for in a negated query: `a OR NOT b` is held as the negation of `b NOT a`, and finds `a`. */
const namedIn = (query: Query): Query | undefined =>
  or((query.kind === 'and' ? query.but : []).map((query) => ({ not: false, query })))?.query

function noteOn(query: Query | undefined, found: Signed | undefined, dangling: string | undefined): string | undefined {
  if (query === undefined)
    return found === undefined
      ? 'This query finds nothing: it has no word to look for.'
      : 'This query finds nothing: NOT (or -) only takes away from other words. Name a word to find as well.'
  if (dangling === undefined) return undefined
  return `${dangling} has nothing to join here and is looked for as a word. Put words on both of its sides, or leave it out.`
}

/** The phrases that a message was found by, to show where. */
export function phrasesOf(query: Query): Phrase[] {
  if (query.kind === 'phrase') return [query]
  return (query.kind === 'and' ? query.all : query.any).flatMap(phrasesOf)
}

/** Whether the words of a text, from `at` on, are those of the phrase. Most words of most texts are asked: no allocations. */
export function fitsAt(text: readonly string[], at: number, { words, prefix }: Phrase): boolean {
  const last = words.length - 1
  for (let n = 0; n < last; n++) if (text[at + n] !== words[n]) return false
  const word = text[at + last]
  const wanted = words[last]
  return word === wanted || (prefix && wanted !== undefined && word?.startsWith(wanted) === true)
}

type Token =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  | { readonly kind: 'word' | 'operator'; readonly text: string; readonly phrase: Phrase | undefined }

/** A minus in front of a term or an opening parenthesis is NOT; one inside a word, alone or doubled is literal. */
const pattern = new RegExp(
  `([()])|(?<![^\\s(])(-)(?=[^\\s)-])|(?:(${fields.join('|')}):)?(?:"([^"]*)"|([^\\s()"]+))`,
  'gi',
)
const operators = ['AND', 'OR', 'NOT']

function lex(text: string): Token[] {
  const tokens: Token[] = []
  let prefixes = maxPrefixes
  for (const { 1: paren, 2: minus, 3: field, 4: quoted, 5: bare = '' } of text.matchAll(pattern)) {
    if (minus !== undefined) {
      tokens.push({ kind: 'operator', text: 'NOT', phrase: undefined })
      continue
    }
    if (paren !== undefined) {
      tokens.push({ kind: paren === '(' ? 'open' : 'close' })
      continue
    }
    const phrase = toPhrase(wordsOf(quoted ?? bare), {
      prefix: prefixes > 0 && quoted === undefined && bare.endsWith('*'),
      field: field?.toLowerCase() as Field | undefined,
    })
    if (phrase?.prefix) prefixes--
    tokens.push({ kind: field === undefined && operators.includes(bare) ? 'operator' : 'word', text: bare, phrase })
  }
  return balanced(tokens)
}

function toPhrase(words: readonly string[], { prefix, field }: Pick<Phrase, 'prefix' | 'field'>): Phrase | undefined {
  const last = words.at(-1)
  if (last === undefined) return undefined
  return { kind: 'phrase', words, prefix: prefix && [...last].length >= minPrefix, field }
}

/** Without the parentheses that have no partner or stand too deep. */
function balanced(tokens: readonly Token[]): Token[] {
  const open: number[] = []
  const paired = new Set<number>()
  for (const [at, { kind }] of tokens.entries()) {
    if (kind === 'open') open.push(at)
    if (kind !== 'close') continue
    const partner = open.pop()
    if (partner !== undefined && open.length < maxDepth) paired.add(partner).add(at)
  }
  return tokens.filter(({ kind }, at) => (kind !== 'open' && kind !== 'close') || paired.has(at))
}

/** A query or, with `not`, all but what it finds. */
interface Signed {
  readonly not: boolean
  readonly query: Query
}

/** NOT binds most tightly, then AND (written or not), then OR. An operator without operands is a word. */
class Parser {
  readonly #tokens: readonly Token[]
  /** The first operator that turned out to be a word. */
  dangling: string | undefined
  #at = 0
  /** How many words may still be looked up. Operators are none, unless they turn out to be words. */
  #left = maxWords

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  either(): Signed | undefined {
    const any = [this.#both()]
    while (this.#operator('OR')) any.push(this.#both())
    return or(any.filter((one) => one !== undefined))
  }

  #both(): Signed | undefined {
    const all: (Signed | undefined)[] = []
    do {
      all.push(this.#one())
      this.#operator('AND')
    } while (this.#startsOperand() && !this.#sees('OR'))
    return and(all.filter((one) => one !== undefined))
  }

  #one(): Signed | undefined {
    let not = false
    while (this.#operator('NOT')) not = !not
    const one = this.#operand()
    return one && { not: one.not !== not, query: one.query }
  }

  #operand(): Signed | undefined {
    const token = this.#tokens[this.#at]
    if (token === undefined || token.kind === 'close') return undefined
    this.#at++
    if (token.kind === 'operator' && token.phrase !== undefined) this.dangling ??= token.text
    if (token.kind !== 'open') return this.#word(token.phrase)
    const group = this.either()
    this.#at++
    return group
  }

  #word(phrase: Phrase | undefined): Signed | undefined {
    if (phrase === undefined || this.#left === 0) return undefined
    const words = phrase.words.slice(0, this.#left)
    this.#left -= words.length
    return { not: false, query: { ...phrase, words, prefix: phrase.prefix && words.length === phrase.words.length } }
  }

  /** Passes an operator that has something to its right. */
  #operator(text: string): boolean {
    if (!this.#sees(text)) return false
    this.#at++
    return true
  }

  #sees(text: string): boolean {
    const token = this.#tokens[this.#at]
    return token?.kind === 'operator' && token.text === text && this.#startsOperand(1)
  }

  #startsOperand(ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead]
    return token !== undefined && token.kind !== 'close'
  }
}

function and(all: readonly Signed[]): Signed | undefined {
  const [first] = all
  if (first === undefined || all.length === 1) return first
  const wanted = all.filter(({ not }) => !not).map(({ query }) => query)
  const but = all.filter(({ not }) => not).map(({ query }) => query)
  if (wanted.length === 0) return { not: true, query: { kind: 'or', any: but } }
  return { not: false, query: { kind: 'and', all: wanted, but } }
}

/** Not both of a and b, or c: all but what has a and b without c. */
function or(any: readonly Signed[]): Signed | undefined {
  const flipped = and(any.map(({ not, query }) => ({ not: !not, query })))
  return flipped && { not: !flipped.not, query: flipped.query }
}
