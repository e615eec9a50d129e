/** Times that people type: 30m, 24h, 7d. */

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const longestDays = 30

/** In milliseconds; undefined for a text that is none, or more than the longest there is. */
export function readDuration(given: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(given.trim()) ?? []
  const ms = Number(count) * units[(unit ?? 'm') as keyof typeof units]
  return ms > 0 && ms <= longestDays * units.d ? ms : undefined
}
