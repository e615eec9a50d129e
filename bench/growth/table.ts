/** Cost against size: the lines that `npm run bench:growth` prints and keeps, and when one is flat. */
import { percentile } from '../client.ts'

/** The last may cost so many times the first before a line asks for its reason. */
export const flatUpTo = 1.5

export interface GrowthLine {
  readonly what: string
  readonly unit: string
  /** One for each size. */
  readonly values: readonly number[]
  /** The last against the first. */
  readonly ratio: number
  readonly flat: boolean
  /** Why it is not flat. */
  readonly why?: string
}

export interface GrowthPart {
  readonly title: string
  readonly says: string
  readonly sizes: readonly number[]
  readonly lines: readonly GrowthLine[]
  /** The measures that were left out, and why. */
  readonly skipped: readonly string[]
}

export interface Growth {
  readonly day: string
  readonly commit: string
  readonly machine: string
  readonly parts: readonly GrowthPart[]
}

/** The samples of one line, of each size; `why` is said only if it is not flat. */
export interface Samples {
  readonly what: string
  readonly unit: string
  readonly seen: readonly (readonly number[])[]
  readonly why?: string
}

export function judge({ what, unit, seen, why = 'Not explained yet.' }: Samples): GrowthLine {
  const values = seen.map((samples) => percentile(samples, 50))
  const ratio = (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN)
  const flat = ratio <= flatUpTo
  return { what, unit, values, ratio, flat, ...(!flat && { why }) }
}

const digits = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)

/** As Markdown, for the terminal and for docs/benchmarks.md alike. */
export function growthCells({ sizes, lines }: GrowthPart): { head: string[]; rows: string[][] } {
  return {
    head: ['', ...sizes.map((size) => size.toLocaleString('en')), 'last / first', ''],
    rows: lines.map(({ what, unit, values, ratio, flat, why }) => [
      `${what}, ${unit}`,
      ...values.map(digits),
      ratio.toFixed(2),
      flat ? 'flat' : `not flat: ${why}`,
    ]),
  }
}
