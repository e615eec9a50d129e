/** Tables: columns that fit a terminal, or tabs between the values for another program. */
import { styleText } from 'node:util'
import { harmlessLine } from './harmless.ts'
import type { Screen } from './screen.ts'
import { displayWidth, padEnd, padStart, truncate } from './width.ts'

/** The side of a column, and its value of a row. One that shrinks is on the left, and gives way when the terminal is too narrow. */
type Column<Row> = readonly [side: 'left' | 'right' | 'shrinks', cellOf: (row: Row) => string | number]

/** Columns by their titles. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>

const gap = 2
/** A column that gives way keeps this much. */
const least = 8

export type Look = Pick<Screen, 'tty' | 'color' | 'width'>

export const cellsOf = <Row>(columns: Columns<Row>, row: Row): string[] =>
  Object.values(columns).map(([, cellOf]) => harmlessLine(String(cellOf(row))))

/** Every line ends with a newline. */
export function table<Row>(columns: Columns<Row>, rows: readonly Row[], look: Look): string {
  const titles = Object.keys(columns)
  const clean = rows.map((row) => cellsOf(columns, row))
  if (!look.tty) return [titles, ...clean].map((row) => `${row.join('\t')}\n`).join('')
  const widths = columnWidths(columns, clean, look.width)
  const line = (row: readonly string[]) =>
    Object.values(columns)
      .map(([side], at) => {
        const width = widths[at] ?? 0
        const text = truncate(row[at] ?? '', width)
        return side === 'right' ? padStart(text, width) : padEnd(text, width)
      })
      .join(' '.repeat(gap))
      .trimEnd()
  const head = line(titles.map((title) => title.toUpperCase()))
  return [paint(look, 'dim', head), ...clean.map(line)].map((text) => `${text}\n`).join('')
}

/** As wide as the widest value; the columns that give way shrink until the terminal has room for all. */
function columnWidths<Row>(columns: Columns<Row>, rows: readonly (readonly string[])[], width: number): number[] {
  const widths = Object.keys(columns).map((title, at) =>
    rows.reduce((widest, row) => Math.max(widest, displayWidth(row[at] ?? '')), displayWidth(title)),
  )
  let excess = widths.reduce((sum, each) => sum + each, gap * (widths.length - 1)) - width
  for (const [at, [side]] of Object.values(columns).entries()) {
    const own = widths[at] ?? 0
    const taken = side === 'shrinks' ? Math.max(0, Math.min(excess, own - least)) : 0
    widths[at] = own - taken
    excess -= taken
  }
  return widths
}

type Style = Extract<Parameters<typeof styleText>[0], string>

export interface Painted {
  readonly text: string
  readonly style: Style | readonly Style[]
}

export function paint({ color }: Pick<Screen, 'color'>, style: Painted['style'], text: string): string {
  return color ? styleText([style].flat(), text, { validateStream: false }) : text
}
