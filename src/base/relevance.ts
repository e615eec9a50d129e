/** Which of several messages fits a query best: BM25 over the messages at hand, and so the same on every engine. */
import { fitsAt, type Phrase } from './query.ts'

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

export function countPhrase(words: readonly string[], phrase: Phrase): number {
  let count = 0
  for (let at = 0; at < words.length; at++) if (fitsAt(words, at, phrase)) count++
  return count
}
