/** How wide a text is on a terminal, and how to make it fit. */

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The characters that fill two columns: East Asian scripts in full width, and emoji. */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}|\ufe0f/u

/** Marks that stand on the letter before them, and characters that are not seen. */
const none = /^[\p{M}\p{Cf}]+$/u

const ascii = /^[\x20-\x7e]*$/

function widthOf(grapheme: string): number {
  if (none.test(grapheme)) return 0
  return wide.test(grapheme) ? 2 : 1
}

/** Of a text without control characters. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOf(segment)
  return width
}

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - displayWidth(text)))

export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - displayWidth(text))) + text

/** As much as fits, with a sign that there is more. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  const { head } = splitAt(text, Math.max(0, width - 1))
  return `${head}…`
}

/** Lines of at most `width` columns, parted at spaces where there are any. */
export function wrap(line: string, width: number): string[] {
  const lines: string[] = []
  for (let rest = line; ; ) {
    const { head, tail } = splitAt(rest, width)
    if (tail === '') return [...lines, rest]
    const space = tail.startsWith(' ') ? head.length : head.lastIndexOf(' ')
    // Not within the indentation, which would leave an empty line.
    const cut = space < 0 || head.slice(0, space).trim() === '' ? head.length : space
    lines.push(head.slice(0, cut))
    rest = cut === head.length ? tail.replace(/^ /, '') : rest.slice(cut + 1)
  }
}

/** At least one character, lest nothing is won. */
function splitAt(text: string, width: number): { head: string; tail: string } {
  if (ascii.test(text.slice(0, width + 1))) return { head: text.slice(0, width), tail: text.slice(width) }
  let used = 0
  let end = 0
  for (const { segment, index } of graphemes.segment(text)) {
    used += widthOf(segment)
    if (used > width && index > 0) break
    end = index + segment.length
  }
  return { head: text.slice(0, end), tail: text.slice(end) }
}
