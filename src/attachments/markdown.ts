/** The images of a Markdown text. Code is left alone, and the time grows with the length only: others wait meanwhile. */

/** The place of an image's address in the text. */
export interface ImagePlace {
  readonly start: number
  readonly end: number
  /** The address without the angle brackets that may stand around it. */
  readonly address: string
}

/** Where an image or a piece of code may begin. */
const marks = /!\[|`+|~{3,}/g

const descriptionLength = 1000

/** Within angle brackets spaces are allowed. A title may follow. */
const destination =
  /\s{0,10}(?:<([^<>\n]*)>|([^\s()<>]+))(?:\s{1,10}(?:"[^"\n]{0,1000}"|'[^'\n]{0,1000}'))?\s{0,10}\)/dy

export function listImages(text: string): ImagePlace[] {
  const images: ImagePlace[] = []
  if (!text.includes('![')) return images
  const closings = runsOfBackticks(text)
  let bracket = -1
  for (marks.lastIndex = 0; ; ) {
    const mark = marks.exec(text)
    if (mark === null) return images
    const after = marks.lastIndex
    if (mark[0] !== '![') {
      marks.lastIndex = endOfCode(text, mark, closings)
      continue
    }
    // Looked for once for all descriptions before it.
    if (bracket < after) bracket = text.indexOf('](', after)
    if (bracket < 0) return images
    const image = bracket - after > descriptionLength ? undefined : readAddress(text, bracket + 2)
    if (image !== undefined) images.push(image)
    marks.lastIndex = image?.end ?? after
  }
}

function readAddress(text: string, at: number): ImagePlace | undefined {
  destination.lastIndex = at
  const found = destination.exec(text)
  const [start, end] = found?.indices?.[1] ?? found?.indices?.[2] ?? [0, 0]
  if (start === end) return undefined
  const brackets = found?.[1] === undefined ? 0 : 1
  return { start: start - brackets, end: end + brackets, address: text.slice(start, end) }
}

/** The places of all runs of backticks by their length, the last one first: each is asked for at most once. */
function runsOfBackticks(text: string): Map<number, number[]> {
  const runs = Map.groupBy(text.matchAll(/`+/g), ([run]) => run.length)
  return new Map([...runs].map(([length, found]) => [length, found.map(({ index }) => index).reverse()]))
}

/** Behind the code that begins with this mark; behind the mark, if it begins none. */
function endOfCode(text: string, mark: RegExpExecArray, closings: Map<number, number[]>): number {
  const [fence] = mark
  const after = mark.index + fence.length
  const before = text.slice(Math.max(0, mark.index - 4), mark.index)
  if (fence.length >= 3 && /(?:^|\n) {0,3}$/.test(before)) return endOfFence(text, after, fence)
  const places = fence.startsWith('~') ? [] : (closings.get(fence.length) ?? [])
  while ((places.at(-1) ?? after) < after) places.pop()
  const closing = places.pop()
  return closing === undefined ? after : closing + fence.length
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
