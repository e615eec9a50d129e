/** How TOML is laid out: where a new table goes, how keys and values are written, and how the lines of statements are taken out. */
import type { Json } from '../shapes.ts'
import type { Statement } from './toml-tree.ts'

type Path = readonly string[]

export const startsWith = (path: Path, start: Path): boolean => start.every((part, index) => part === path[index])

export const endOfLines = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n'

/** After an empty line. */
export function atEnd(text: string, table: string, eol: string): string {
  const open = text !== '' && !text.endsWith('\n') ? eol : ''
  const gap = text === '' || /(^|\n)[ \t]*\r?\n$/.test(text + open) ? '' : eol
  return `${text}${open}${gap}${table}`
}

/** Without the lines of these statements and the empty line before a table; comments of others stay. */
export function without(
  text: string,
  statements: readonly Statement[],
  by?: { readonly table: string; readonly at: number },
): string {
  let rest = text
  for (const { kind, start, end } of statements.toReversed()) {
    const before = rest.slice(0, start)
    if (by?.at === start) rest = before + by.table + rest.slice(end)
    else rest = (kind === 'pair' || by ? before : before.replace(/(^|\n)[ \t]*\r?\n$/, '$1')) + rest.slice(end)
  }
  return rest
}

export const keyText = (key: string): string => (/^[\w-]+$/.test(key) ? key : stringText(key))

/** JSON's escapes are TOML's too. */
const stringText = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f')

export function valueText(value: Json): string {
  if (typeof value === 'string') return stringText(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const pairs = Object.entries(value).map(([key, one]) => `${keyText(key)} = ${valueText(one)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}
