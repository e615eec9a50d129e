/** The nearest of some words to a mistyped one. */

/** Longer words are compared with none, and more slips than this make another word: both keep a comparison short. */
const longest = 40
const mostSlips = 4

/** How many letters were added, left out, replaced, or swapped with their neighbour; more than `most` is `most + 1`. */
export function lettersApart(a: string, b: string, most = Math.max(a.length, b.length)): number {
  const far = most + 1
  const width = b.length + 1
  let before = new Array<number>(width).fill(far)
  let last = Array.from({ length: width }, (_, n) => Math.min(n, far))
  let nowhere = false
  for (let i = 1; i <= a.length; i++) {
    const row = new Array<number>(width).fill(far)
    row[0] = Math.min(i, far)
    let least = row[0]
    // Further from the diagonal there are more slips than count.
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? far) + 1 : far
      row[j] = Math.min((last[j] ?? far) + 1, (row[j - 1] ?? far) + 1, (last[j - 1] ?? far) + same, swapped, far)
      least = Math.min(least, row[j] ?? far)
    }
    // From two such rows no way leads back to fewer slips.
    if (least === far && nowhere) return far
    nowhere = least === far
    before = last
    last = row
  }
  return last[b.length] ?? far
}

const begins = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) > 2 && (a.startsWith(b) || b.startsWith(a))

/** Without case; at most a third of the letters differ, or one begins with the other. The nearest come first. */
export function nearest(word: string, others: readonly string[], most = 3): string[] {
  const wanted = word.toLowerCase()
  if (wanted === '' || wanted.length > longest) return []
  const bound = Math.min(mostSlips, Math.max(1, Math.floor(wanted.length / 3)))
  return others
    .map((other) => {
      const key = other.toLowerCase()
      if (begins(wanted, key)) return { other, steps: 1 }
      const near = Math.abs(key.length - wanted.length) <= bound
      return { other, steps: near ? lettersApart(wanted, key, bound) : bound + 1 }
    })
    .filter(({ steps }) => steps <= bound)
    .sort((a, b) => a.steps - b.steps || (a.other < b.other ? -1 : 1))
    .slice(0, most)
    .map(({ other }) => other)
}
