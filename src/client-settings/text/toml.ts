/** Edits of TOML: an entry is a table of its own at the end of the file, an item one more table of a list; only their lines ever change. */
import { type Edit, type Json, LeaveAlone, type SettingsText } from '../shapes.ts'
import { findItem, putItem, takeItem } from './toml-items.ts'
import { atEnd, endOfLines, keyText, startsWith, valueText, without } from './toml-lines.ts'
import { parseToml, type Statement, valuesOf } from './toml-tree.ts'

type Path = readonly string[]

export const tomlText: SettingsText = {
  find(text, edit) {
    const place = needPlace(edit)
    const there = at(valuesOf(parseToml(text)), place.path)
    return place.kind === 'entry' ? there : findItem(text, place)
  },
  put(text, edit) {
    const place = needPlace(edit)
    return { text: place.kind === 'entry' ? putEntry(text, place) : putItem(text, place), holders: 0 }
  },
  take(text, { edit }) {
    const place = needPlace(edit)
    if (place.kind === 'item') return takeItem(text, place)
    return without(text, ownLines(parseToml(text), place.path))
  },
}

function putEntry(text: string, { path, value }: { readonly path: Path; readonly value: Json }): string {
  const eol = endOfLines(text)
  const table = tableText(path, value).join(eol) + eol
  const statements = parseToml(text)
  const there = at(valuesOf(statements), path)
  const own = ownLines(statements, path)
  if (own[0]?.kind === 'table') return without(text, own, { table, at: own[0].start })
  if (there !== undefined || !mayHold(statements, path))
    throw new LeaveAlone(
      `${path.slice(0, -1).join('.')} is written as one value in it: write [${path.join('.')}] by hand`,
    )
  return atEnd(text, table, eol)
}

const ownLines = (statements: readonly Statement[], path: Path): Statement[] =>
  statements.filter((one) => startsWith(one.path, path))

/** A table cannot be added to an inline table, nor to a list. */
const mayHold = (statements: readonly Statement[], path: Path): boolean =>
  !statements.some(({ kind, path: own }) => kind !== 'table' && startsWith(path, own))

function at(values: Json, path: Path): Json | undefined {
  let value: Json | undefined = values
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = Object.hasOwn(value, key) ? (value as { readonly [key: string]: Json })[key] : undefined
  }
  return value
}

function tableText(path: Path, value: Json): string[] {
  const pairs = Object.entries(value as { readonly [key: string]: Json })
  return [`[${path.map(keyText).join('.')}]`, ...pairs.map(([key, one]) => `${keyText(key)} = ${valueText(one)}`)]
}

function needPlace(edit: Edit): Exclude<Edit, { kind: 'block' }> {
  if (edit.kind !== 'block') return edit
  throw new TypeError('TOML takes entries and items, not blocks.')
}
