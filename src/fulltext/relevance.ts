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

export interface Tally {
  /** How often each phrase occurs, in the order of the phrases. */
  readonly counts: readonly number[]
  /** In words. */
  readonly length: number
}

const ascii = /^[\0-\x7f]*$/

/**
 * Looks for the phrases in a text as fulltext/words.ts cuts it. Nearly all texts are ASCII, and to look through one takes
 * three quarters of the time of cutting it into words, and leaves no words behind to be cleared away.
 */
export function tally(text: string, phrases: readonly Phrase[]): Tally {
  if (ascii.test(text) && !phrases.some(isCut)) {
    const folded = text.toLowerCase()
    return { counts: phrases.map((phrase) => countIn(folded, phrase)), length: countWords(folded) }
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

const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)

function countWords(text: string): number {
  let count = 0
  let inside = false
  for (let at = 0; at < text.length; at++) {
    const letter = isLetter(text.charCodeAt(at))
    if (letter && !inside) count++
    inside = letter
  }
  return count
}

function countIn(text: string, phrase: Phrase): number {
  const first = phrase.words[0] ?? ''
  let count = 0
  for (let at = text.indexOf(first); at !== -1; at = text.indexOf(first, at + 1))
    if (!isLetter(text.charCodeAt(at - 1)) && followsFrom(text, at, phrase)) count++
  return count
}

/** Whether the words stand here, with nothing between them that is one. */
function followsFrom(text: string, from: number, { words, prefix }: Phrase): boolean {
  let at = from
  for (const [n, word] of words.entries()) {
    while (n > 0 && at < text.length && !isLetter(text.charCodeAt(at))) at++
    if (!text.startsWith(word, at)) return false
    at += word.length
    if (isLetter(text.charCodeAt(at)) && !(prefix && n === words.length - 1)) return false
  }
  return true
}
