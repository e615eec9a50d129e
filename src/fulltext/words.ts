/** How text is cut into words for search: messages, queries and snippets, on every engine alike. */

/** Of a longer text only the beginning is searched: to index it all would hold up others, and PostgreSQL refuses to. */
export const searchedLength = 65_536

/** Of a longer word only the beginning counts. A SHA-512 in hexadecimal fits. */
export const wordLength = 128

/** Accents, variation selectors, keycaps, soft hyphens: a search for `cafe` means `café` too. */
const dropped = /[\u00ad\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gv

/** Scripts that put no spaces between words, and emoji: each character is a word, and a query is a row of them. */
const alone =
  /[[[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]&&[\p{L}\p{N}\p{M}]]\p{Extended_Pictographic}\p{RI}]/v

const word = new RegExp(`${alone.source}|[[\\p{L}\\p{N}\\p{M}]--${alone.source}]+`, 'gv')
const ascii = /^[\0-\x7f]*$/
const asciiWord = /[a-z0-9]+/g
const asciiPiece = /[a-zA-Z0-9]+/g

/** `Café, auth-service` → `cafe`, `auth`, `service`. */
export function wordsOf(text: string): readonly string[] {
  const begin = text.length > searchedLength ? text.slice(0, searchedLength) : text
  const words = ascii.test(begin) ? begin.toLowerCase().match(asciiWord) : fold(begin).match(word)
  if (words === null) return []
  return words.some(tooLong) ? words.map(cut) : words
}

/** Without accents, in lower case, each character in its usual form (`ﬁ` → `fi`, `①` → `1`, `ς` → `σ`). */
function fold(text: string): string {
  const base = text.normalize('NFKD').replace(dropped, '').normalize('NFC')
  return base.slice(0, searchedLength).toLowerCase().replaceAll('ς', 'σ')
}

const tooLong = (word: string): boolean => word.length > wordLength

const cut = (word: string): string => (tooLong(word) ? [...word].slice(0, wordLength).join('') : word)

interface Span {
  readonly words: readonly string[]
  readonly start: number
  readonly end: number
}

/** Where the words of a text stand in it, one after the other. In ASCII each piece is one word: to cut it again took half of the time of an excerpt. */
export function* spansOf(text: string): Generator<Span> {
  const begin = text.slice(0, searchedLength)
  const plain = ascii.test(begin)
  for (const { 0: piece, index } of begin.matchAll(plain ? asciiPiece : word))
    yield {
      words: plain ? [cut(piece.toLowerCase())] : wordsOf(piece),
      start: index,
      end: index + piece.length,
    }
}
