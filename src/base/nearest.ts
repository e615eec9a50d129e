/** The nearest of some words to a mistyped one. */

/** How many letters were added, left out, replaced, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1)
      row.push(least)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length] ?? 0
}

/** Without case; at most a third of the letters differ, or one begins with the other. The nearest come first. */
export function nearest(word: string, others: readonly string[], most = 3): string[] {
  const wanted = word.toLowerCase()
  const far = Math.max(1, Math.floor(wanted.length / 3))
  return others
    .map((other) => ({ other, key: other.toLowerCase() }))
    .filter(
      ({ key }) => Math.abs(key.length - wanted.length) <= far || key.startsWith(wanted) || wanted.startsWith(key),
    )
    .map(({ other, key }) => {
      const begins = Math.min(key.length, wanted.length) > 2 && (key.startsWith(wanted) || wanted.startsWith(key))
      return { other, steps: begins ? 1 : distance(wanted, key) }
    })
    .filter(({ steps }) => steps <= far)
    .sort((a, b) => a.steps - b.steps || (a.other < b.other ? -1 : 1))
    .slice(0, most)
    .map(({ other }) => other)
}
