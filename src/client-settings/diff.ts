/** The difference of two texts as a unified diff, for people. */

/** Above this the middle is shown as replaced: comparing each line with each other one would take seconds. */
const mostCells = 4_000_000
const context = 3

type Line = readonly [sign: ' ' | '-' | '+', text: string]

/** '' where they are the same; undefined stands for no file. */
export function unifiedDiff(file: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return ''
  const lines = compared(linesOf(before ?? ''), linesOf(after ?? ''))
  const names = [`--- ${before === undefined ? '/dev/null' : file}`, `+++ ${after === undefined ? '/dev/null' : file}`]
  return `${[...names, ...hunks(lines)].join('\n')}\n`
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function compared(old: readonly string[], now: readonly string[]): Line[] {
  let [head, tail] = [0, 0]
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const same = (lines: readonly string[]) => lines.map((text): Line => [' ', text])
  const middle = ofMiddle(old.slice(head, old.length - tail), now.slice(head, now.length - tail))
  return [...same(old.slice(0, head)), ...middle, ...same(old.slice(old.length - tail))]
}

/** By the longest common subsequence. */
function ofMiddle(old: readonly string[], now: readonly string[]): Line[] {
  const [gone, added] = [(text: string): Line => ['-', text], (text: string): Line => ['+', text]]
  if (old.length * now.length > mostCells || old.length === 0 || now.length === 0)
    return [...old.map(gone), ...now.map(added)]
  const width = now.length + 1
  const longest = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      longest[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: Line[] = []
  for (let [i, j] = [0, 0]; i < old.length || j < now.length; ) {
    const [one, other] = [old[i], now[j]]
    if (one !== undefined && one === other) {
      lines.push([' ', one])
      i++
      j++
    } else if (one !== undefined && (other === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(gone(one))
      i++
    } else {
      lines.push(added(other ?? ''))
      j++
    }
  }
  return lines
}

function hunks(lines: readonly Line[]): string[] {
  const shown: string[] = []
  const changes = lines.flatMap(([sign], index) => (sign === ' ' ? [] : [index]))
  for (let n = 0; n < changes.length; ) {
    const from = Math.max(0, (changes[n] ?? 0) - context)
    while (n + 1 < changes.length && (changes[n + 1] ?? 0) - (changes[n] ?? 0) <= 2 * context) n++
    const part = lines.slice(from, (changes[n] ?? 0) + 1 + context)
    shown.push(`@@ -${range(lines, part, from, '-')} +${range(lines, part, from, '+')} @@`, ...part.flatMap(lineText))
    n++
  }
  return shown
}

function range(lines: readonly Line[], part: readonly Line[], from: number, sign: '-' | '+'): string {
  const counts = (some: readonly Line[]): number => some.filter(([one]) => one === ' ' || one === sign).length
  const [start, length] = [counts(lines.slice(0, from)), counts(part)]
  return `${length === 0 ? start : start + 1},${length}`
}

const lineText = ([sign, text]: Line): string[] =>
  text.endsWith('\n') ? [sign + text.slice(0, -1)] : [sign + text, '\\ No newline at end of file']
