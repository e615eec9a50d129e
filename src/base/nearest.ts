/** The words nearest to one that is not known: what somebody who mistyped it may have meant. */

/** The nearest first; of equally near ones, the earlier. `spell` gives what of a candidate is compared. */
export function nearest<T>(
  word: string,
  candidates: readonly T[],
  { count, spell }: { count: number; spell: (candidate: T) => string },
): T[] {
  const wanted = word.toLowerCase().slice(0, longest)
  return candidates
    .map((candidate) => ({ candidate, far: distance(wanted, spell(candidate).toLowerCase().slice(0, longest)) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, count)
    .map(({ candidate }) => candidate)
}

/** More characters tell no more, and cost time by their square. */
const longest = 64

/** How many letters must be put in, left out or replaced to make one word of the other. */
export function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++) {
      const same = one[at - 1] === other[to - 1] ? 0 : 1
      next.push(Math.min((next[to - 1] ?? 0) + 1, (row[to] ?? 0) + 1, (row[to - 1] ?? 0) + same))
    }
    row = next
  }
  return row[other.length] ?? 0
}
