/** How wide a text is on a terminal, and how to make it fit. */

/** Set by `loadWidths`; before that every letter is as wide as any. */
let [widthOf, graphemes]: [((text: string) => number) | undefined, Intl.Segmenter | undefined] = [undefined, undefined]

/** The tables of Unicode take a fifth of the start of a command: it waits for them only where a terminal shows its output. */
export async function loadWidths(): Promise<void> {
  widthOf ??= (await import('string-width')).default
}

const ascii = /^[\x20-\x7e]*$/

export const displayWidth = (text: string): number =>
  ascii.test(text) ? text.length : (widthOf?.(text) ?? [...text].length)

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
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  for (const { segment, index } of graphemes.segment(text)) {
    used += displayWidth(segment)
    if (used > width && index > 0) break
    end = index + segment.length
  }
  return { head: text.slice(0, end), tail: text.slice(end) }
}
