/** The images of a Markdown text. Code is left alone, and the time grows with the length only: others wait meanwhile. */

/** The place of an image's address in the text. */
export interface ImagePlace {
  readonly start: number
  readonly end: number
  /** The address without the angle brackets that may stand around it. */
  readonly address: string
}

/** Where an image or a piece of code may begin. */
const marks = /!\[|`|~~~/g

/** So many take 10 ms. Behind them no image is looked for: no person writes such a text. */
const mostMarks = 20_000

const descriptionLength = 1000

/** Within angle brackets spaces are allowed. A title may follow. */
const destination =
  /(\s{0,10})(?:<([^<>\n]*)>|([^\s()<>]+))(?:\s{1,10}(?:"[^"\n]{0,1000}"|'[^'\n]{0,1000}'))?\s{0,10}\)/y

export function listImages(text: string): ImagePlace[] {
  const images: ImagePlace[] = []
  if (!text.includes('](')) return images
  const closings = runsOfBackticks(text)
  let bracket = -1
  marks.lastIndex = 0
  for (let count = 0; count < mostMarks && marks.test(text); count++) {
    const after = marks.lastIndex
    const last = text[after - 1]
    if (last !== '[') {
      marks.lastIndex = endOfCode(text, last === '`' ? after - 1 : after - 3, closings)
      continue
    }
    // Looked for once for all descriptions before it.
    if (bracket < after) bracket = text.indexOf(']', after)
    if (bracket < 0) return images
    const described = bracket - after <= descriptionLength && text[bracket + 1] === '('
    const image = described ? readAddress(text, bracket + 2) : undefined
    if (image !== undefined) images.push(image)
    marks.lastIndex = image?.end ?? after
  }
  return images
}

function readAddress(text: string, at: number): ImagePlace | undefined {
  destination.lastIndex = at
  const [, space = '', bracketed, plain = ''] = destination.exec(text) ?? []
  const address = bracketed ?? plain
  if (address === '') return undefined
  const start = at + space.length
  return { start, end: start + address.length + (bracketed === undefined ? 0 : 2), address }
}

/** Where a run of the same character ends. */
function endOfRun(text: string, start: number): number {
  let end = start + 1
  while (text[end] === text[start]) end++
  return end
}

/** The places of all runs of backticks by their length, the last one first: each is asked for at most once. */
function runsOfBackticks(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>()
  for (let at = text.indexOf('`'), end = 0, count = 0; at >= 0 && count < mostMarks; count++) {
    end = endOfRun(text, at)
    const places = runs.get(end - at)
    if (places === undefined) runs.set(end - at, [at])
    else places.push(at)
    at = text.indexOf('`', end)
  }
  for (const places of runs.values()) places.reverse()
  return runs
}

/** Behind the code that begins here with a run of backticks or tildes; behind the run, if it begins none. */
function endOfCode(text: string, start: number, closings: Map<number, number[]>): number {
  const after = endOfRun(text, start)
  const length = after - start
  const before = length < 3 ? 'x' : text.slice(Math.max(0, start - 4), start)
  if (/(?:^|\n) {0,3}$/.test(before)) return endOfFence(text, after, text.slice(start, after))
  const places = text[start] === '~' ? [] : (closings.get(length) ?? [])
  while ((places.at(-1) ?? after) < after) places.pop()
  const closing = places.pop()
  return closing === undefined ? after : closing + length
}

/** A block of code ends with a fence as long as its own, else with the text. */
function endOfFence(text: string, after: number, fence: string): number {
  const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`, 'gm')
  closing.lastIndex = after
  return closing.test(text) ? closing.lastIndex : text.length
}

/** The text with other addresses in these places, which stand in their order. */
export function replaceImages(text: string, places: readonly (ImagePlace & { readonly by: string })[]): string {
  let [done, at] = ['', 0]
  for (const { start, end, by } of places) {
    done += text.slice(at, start) + by
    at = end
  }
  return done + text.slice(at)
}
