/** The table of measurements in README.md, from bench/results.json. */

export interface Results {
  readonly machine: string
  readonly rows: readonly { what: string; measured: string; target: string; reached: boolean }[]
}

const [open, close] = ['<!-- bench -->', '<!-- /bench -->']

export function renderBench(readme: string, { machine, rows }: Results): string {
  const [before, rest] = readme.split(open)
  const after = rest?.split(close)[1]
  if (before === undefined || after === undefined)
    throw new Error(`README.md needs a line ${open} and a line ${close}.`)
  const table = rows.map(
    ({ what, measured, target, reached }) => `| ${what} | ${measured} | ${target} | ${reached ? '✓' : '✗'} |`,
  )
  return [
    `${before}${open}`,
    '| | measured | target | |',
    '|---|---|---|---|',
    ...table,
    '',
    `Measured on ${machine}.`,
    `${close}${after}`,
  ].join('\n')
}
