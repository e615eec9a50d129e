/** Which of several messages fits a query best: BM25 over the messages at hand, and so the same on every engine. */
import { fitsAt, type Phrase } from './query.ts'
import { wordLength, wordsOf } from './words.ts'

export interface Counted {
  readonly id: number
  /** How often each phrase occurs, in the order of the phrases. */
  readonly counts: readonly number[]
  /** In words. */
  readonly length: number
}

export interface Ranked {
  readonly id: number
  readonly score: number
}

/** The customary constants: how soon it stops to matter that a word is repeated, and how much less a long message says. */
const saturation = 1.2
const lengthShare = 0.75

/** The best first, the higher id first among equals. */
export function rank(messages: readonly Counted[]): Ranked[] {
  const average = messages.reduce((sum, { length }) => sum + length, 0) / messages.length || 1
  const having: number[] = []
  for (const { counts } of messages)
    for (const [at, count] of counts.entries()) having[at] = (having[at] ?? 0) + (count > 0 ? 1 : 0)
  const rarity = having.map((count) => Math.log(1 + messages.length / (count + 0.5)))
  return messages
    .map(({ id, counts, length }) => {
      const room = saturation * (1 - lengthShare + (lengthShare * length) / average)
      return { id, score: counts.reduce((sum, n, at) => sum + ((rarity[at] ?? 0) * n) / (n + room), 0) }
    })
    .sort((a, b) => b.score - a.score || b.id - a.id)
}

interface Tally {
  /** How often each phrase occurs, in the order of the phrases. */
  readonly counts: readonly number[]
  /** In words. */
  readonly length: number
}

/**
 * Looks for the phrases in a text as fulltext/words.ts cuts it. Nearly all texts are ASCII, and to look through one takes a
 * third of the time of cutting it into words, and leaves no words behind to be cleared away.
 */
export function tally(text: string, phrases: readonly Phrase[]): Tally {
  const { written } = encoder.encodeInto(text, bytes)
  // Other characters take more bytes than places in the text.
  if (written === text.length && !phrases.some(isCut)) {
    const folded = text.toLowerCase()
    return { counts: phrases.map((phrase) => countIn(folded, phrase)), length: countWords(written) }
  }
  const words = wordsOf(text)
  return { counts: phrases.map((phrase) => countAmong(words, phrase)), length: words.length }
}

function countAmong(words: readonly string[], phrase: Phrase): number {
  let count = 0
  for (let at = 0; at < words.length; at++) if (fitsAt(words, at, phrase)) count++
  return count
}

/** Of a longer word only the beginning counts. */
const isCut = ({ words }: Phrase): boolean => words.some((word) => word.length >= wordLength)

const encoder = new TextEncoder()
/** The text at hand: a loop over bytes takes a third of the time of one over the characters of a string. A longer text is cut into words. */
const bytes = new Uint8Array(8192)

/** 1 for the bytes that words are made of. */
const letters = Uint8Array.from({ length: 256 }, (_, byte) => (/[a-z0-9]/i.test(String.fromCharCode(byte)) ? 1 : 0))

/** How many words begin in the bytes at hand; without a branch, which would be guessed wrong at every word. */
function countWords(length: number): number {
  let count = 0
  let before = 0
  for (let at = 0; at < length; at++) {
    const letter = letters[bytes[at] ?? 0] ?? 0
    count += letter & ~before
    before = letter
  }
  return count
}

const patterns = new WeakMap<Phrase, RegExp>()

function countIn(text: string, phrase: Phrase): number {
  const pattern = patterns.get(phrase) ?? patternOf(phrase)
  let count = 0
  pattern.lastIndex = 0
  while (pattern.test(text)) count++
  return count
}

/** Where the phrase begins, with nothing between its words that is one. Only the first is passed over: `a a` stands twice in `a a a`. */
function patternOf(phrase: Phrase): RegExp {
  const [first = '', ...others] = phrase.words
  const rest = others.map((word) => `[^a-z0-9]+${word}`).join('')
  const pattern = new RegExp(`(?<![a-z0-9])${first}(?=${rest}${phrase.prefix ? '' : '(?![a-z0-9])'})`, 'g')
  patterns.set(phrase, pattern)
  return pattern
}
