/** Markdown as the generated pages write it. */

/** Stands at the top of every generated page. */
export const generatedFrom = (source: string): string =>
  `<!-- Generated from ${source} by \`npm run docs\`. Do not edit. -->`

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

export const code = (text: string): string => `\`${text}\``

/** Blocks parted by empty lines, with one newline at the end. */
export const page = (...blocks: readonly string[]): string => `${blocks.join('\n\n')}\n`

/** Puts a text between `<!-- name -->` and `<!-- /name -->`. */
export function between(page: string, { name, file, text }: { name: string; file: string; text: string }): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [before, rest] = page.split(open)
  const after = rest?.split(close)[1]
  if (before === undefined || after === undefined) throw new Error(`${file} needs a line ${open} and a line ${close}.`)
  return `${before}${open}\n${text}\n${close}${after}`
}
