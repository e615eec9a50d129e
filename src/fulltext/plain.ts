/** Markdown as a line of plain words: what a list shows of a body, without the signs around the words. */

type Sign = readonly [RegExp, string]

/** Fences, rules, underlines of headings, and the rule below the head of a table are lines without a word. */
const wordless: readonly RegExp[] = [
  /^[ \t]*(?:`{3,}|~{3,})[^\n`]{0,100}$/gm,
  /^[ \t>]*(?:[-*_][ \t]*){3,200}$/gm,
  /^[ \t]*={2,200}[ \t]*$/gm,
  /^[ \t]*\|?[ \t]*:?-{2,200}:?[ \t]*(?:\|[ \t]*:?-{1,200}:?[ \t]*){0,100}\|?[ \t]*$/gm,
]

/** Each looks at a bounded piece of the text. */
const signs: readonly Sign[] = [
  [/^[ \t]*(?:(?:#{1,6}|>|[-*+](?: \[[ xX]\])?)[ \t]+){1,8}/gm, ''],
  [/!?\[([^[\]]{1,100})\]\([^()\s]{0,200}\)/g, '$1'],
  [/<(https?:\/\/[^<>\s]{1,200})>/g, '$1'],
  [/(\*\*|__|~~)(?=\S)([^*_~]{1,200})\1/g, '$2'],
  [/`+/g, ''],
]

/** A line that begins with a bar is a row of a table. */
const tableRow = /^[ \t]*\|.*$/gm

const cellsOf = (row: string): string =>
  row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' · ')

export function plainly(markdown: string): string {
  let text = markdown
  for (const line of wordless) text = text.replace(line, '')
  text = text.replace(tableRow, cellsOf)
  for (const [sign, word] of signs) text = text.replace(sign, word)
  return text.replace(/\s+/g, ' ').trim()
}
