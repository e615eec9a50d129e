/** The piece of a text around the first thing that was searched for, and where in it the matches are. */
import { fitsAt, type Phrase } from './query.ts'
import { spansOf, wordsOf } from './words.ts'

/** Plain text on one line. Matches are given by their places, since any mark could stand in the text itself. */
export interface Excerpt {
  readonly text: string
  /** From and to, as `slice` takes them; in order and apart. */
  readonly matches: readonly Match[]
}

type Match = readonly [from: number, to: number]

const width = 160
/** How much of it stands before the first match. */
const lead = 40
/** A long text is looked through in pieces, which overlap so that no match falls between two of them. */
const look = 4000
const overlap = 400

export function excerpt(text: string, phrases: readonly Phrase[]): Excerpt {
  const piece = cutAround(text, findFirst(text, phrases))
  return { text: piece, matches: matchesIn(piece, phrases) }
}

/** To find the words is ten times faster than to find where they stand. */
function findFirst(text: string, phrases: readonly Phrase[]): number {
  for (let from = 0; from < text.length; from += look - overlap) {
    const piece = text.slice(from, from + look)
    const words = wordsOf(piece)
    if (!words.some((_, at) => phrases.some((phrase) => fitsAt(words, at, phrase)))) continue
    const [first] = matchesIn(piece, phrases)
    if (first !== undefined) return from + first[0]
  }
  return 0
}

/** An excerpt as one text with its matches marked, `**so**` unless told otherwise. */
export function marked(
  { text, matches }: Excerpt,
  mark: (match: string) => string = (match) => `**${match}**`,
  rest: (text: string) => string = (text) => text,
): string {
  let out = ''
  let at = 0
  for (const [from, to] of matches) {
    out += rest(text.slice(at, from)) + mark(text.slice(from, to))
    at = to
  }
  return out + rest(text.slice(at))
}

function matchesIn(text: string, phrases: readonly Phrase[]): Match[] {
  const words: string[] = []
  const places: Match[] = []
  for (const span of spansOf(text)) {
    for (const word of span.words) {
      words.push(word)
      places.push([span.start, span.end])
    }
  }
  const matches: Match[] = []
  for (let at = 0; at < words.length; at++) {
    const phrase = phrases.find((phrase) => fitsAt(words, at, phrase))
    const [from, to] = [places[at]?.[0], places[at + (phrase?.words.length ?? 0) - 1]?.[1]]
    if (phrase === undefined || from === undefined || to === undefined) continue
    matches.push([from, to])
    at += phrase.words.length - 1
  }
  return matches
}

/** Characters that a line of text cannot hold: breaks, controls, and marks that turn around the direction of the text after them. */
const blank = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu
/** Half of a surrogate pair, left at a cut. */
const halves = /^[\udc00-\udfff]|[\ud800-\udbff]$/g

function cutAround(text: string, at: number): string {
  const from = Math.max(0, at - lead)
  const before = from === 0 ? text.slice(0, at) : text.slice(from, at).replace(/^\S*\s+/, '')
  const end = at + 4 * width
  const line = (before + text.slice(at, end)).replace(halves, '').replace(blank, ' ').trim()
  const whole = line.length <= width && end >= text.length
  const piece = whole
    ? line
    : `${line
        .slice(0, width)
        .replace(/\s\S{0,30}$/, '')
        .replace(halves, '')}…`
  return from === 0 ? piece : `…${piece}`
}
