/** Edits of TOML: an entry is a table of its own at the end of the file, and only its lines ever change. */
import { type Edit, type Json, LeaveAlone, type SettingsText } from '../shapes.ts'
import { parseToml, type Statement, valuesOf } from './toml-tree.ts'

type Path = readonly string[]

export const tomlText: SettingsText = {
  find(text, edit) {
    return at(valuesOf(parseToml(text)), needEntry(edit).path)
  },
  put(text, edit) {
    const { path, value } = needEntry(edit)
    const eol = /\r?\n/.exec(text)?.[0] ?? '\n'
    const table = tableText(path, value).join(eol) + eol
    const statements = parseToml(text)
    const there = at(valuesOf(statements), path)
    const [first] = ownLines(statements, path)
    if (first?.kind === 'table') return { text: withoutLines(text, path, { table, at: first.start }), holders: 0 }
    if (there !== undefined || !mayHold(statements, path))
      throw new LeaveAlone(
        `${path.slice(0, -1).join('.')} is written as one value in it: write [${path.join('.')}] by hand`,
      )
    const open = text !== '' && !text.endsWith('\n') ? eol : ''
    const gap = text === '' || /(^|\n)[ \t]*\r?\n$/.test(text + open) ? '' : eol
    return { text: `${text}${open}${gap}${table}`, holders: 0 }
  },
  take(text, { edit }) {
    return withoutLines(text, needEntry(edit).path)
  },
}

const startsWith = (path: Path, start: Path): boolean => start.every((part, index) => part === path[index])

const ownLines = (statements: readonly Statement[], path: Path): Statement[] =>
  statements.filter((one) => startsWith(one.path, path))

/** A table cannot be added to an inline table, nor to a list. */
const mayHold = (statements: readonly Statement[], path: Path): boolean =>
  !statements.some(({ kind, path: own }) => kind !== 'table' && startsWith(path, own))

/** Without the lines of a table and the empty line before it; comments of others stay. */
function withoutLines(text: string, path: Path, by?: { readonly table: string; readonly at: number }): string {
  let rest = text
  for (const { kind, start, end } of ownLines(parseToml(text), path).toReversed()) {
    const before = rest.slice(0, start)
    if (by?.at === start) rest = before + by.table + rest.slice(end)
    else rest = (kind === 'pair' || by ? before : before.replace(/(^|\n)[ \t]*\r?\n$/, '$1')) + rest.slice(end)
  }
  return rest
}

function at(values: Json, path: Path): Json | undefined {
  let value: Json | undefined = values
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = Object.hasOwn(value, key) ? (value as { readonly [key: string]: Json })[key] : undefined
  }
  return value
}

export function tableText(path: Path, value: Json): string[] {
  const pairs = Object.entries(value as { readonly [key: string]: Json })
  return [`[${path.map(keyText).join('.')}]`, ...pairs.map(([key, one]) => `${keyText(key)} = ${valueText(one)}`)]
}

const keyText = (key: string): string => (/^[\w-]+$/.test(key) ? key : stringText(key))

/** JSON's escapes are TOML's too. */
const stringText = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f')

function valueText(value: Json): string {
  if (typeof value === 'string') return stringText(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const pairs = Object.entries(value).map(([key, one]) => `${keyText(key)} = ${valueText(one)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

function needEntry(edit: Edit): Extract<Edit, { kind: 'entry' }> {
  if (edit.kind === 'entry') return edit
  throw new TypeError(`TOML takes entries, not ${edit.kind}s.`)
}
