/** Items of TOML's lists of tables: which statements make one up, and how a new one is written down. */
import { type Item, indexOfItem, type Json, LeaveAlone } from '../shapes.ts'
import { atEnd, endOfLines, keyText, startsWith, valueText, without } from './toml-lines.ts'
import { parseToml, type Statement, valuesOf } from './toml-tree.ts'

interface Found {
  readonly value: Json
  readonly statements: readonly Statement[]
}

/** As they stand in the text; others may come between the tables of one. */
function itemsAt(statements: readonly Statement[], path: Item['path']): Found[] {
  const groups: Statement[][] = []
  for (const one of statements.filter((each) => startsWith(each.path, path)))
    if (one.kind === 'tables' && one.path.length === path.length) groups.push([one])
    else groups.at(-1)?.push(one)
  return groups.map((own) => {
    const values = path.reduce<Json>(
      (value, key) => (value as { readonly [key: string]: Json })[key] ?? {},
      valuesOf(own),
    )
    return { value: (values as readonly Json[])[0] ?? {}, statements: own }
  })
}

function findOwn(text: string, item: Item): Found | undefined {
  const all = itemsAt(parseToml(text), item.path)
  return all[
    indexOfItem(
      all.map(({ value }) => value),
      item,
    )
  ]
}

export const findItem = (text: string, item: Item): Json | undefined => findOwn(text, item)?.value

/** At the end of the file. */
export function putItem(text: string, { path, value }: Item): string {
  const statements = parseToml(text)
  valuesOf(statements)
  // Its own list is there already, and tables may lie around it; anything else on the way is no place for it.
  const isWay = ({ kind, path: own }: Statement) => kind === (own.length === path.length ? 'tables' : 'table')
  const inWay = statements.some((one) => startsWith(path, one.path) && !isWay(one))
  if (inWay) throw new LeaveAlone(`${path.join('.')} is no list of tables in it: write [[${path.join('.')}]] by hand`)
  const eol = endOfLines(text)
  return atEnd(text, itemText(path, value).join(eol) + eol, eol)
}

export function takeItem(text: string, item: Item): string {
  const found = findOwn(text, item)
  return found === undefined ? text : without(text, found.statements)
}

/** Lists of objects in it are lists of tables too, as people write them. */
function itemText(path: Item['path'], value: Json): string[] {
  const pairs = Object.entries(value as { readonly [key: string]: Json })
  const isTables = (one: Json): one is readonly Json[] =>
    Array.isArray(one) && one.length > 0 && one.every((each) => typeof each === 'object' && each !== null)
  return [
    `[[${path.map(keyText).join('.')}]]`,
    ...pairs.filter(([, one]) => !isTables(one)).map(([key, one]) => `${keyText(key)} = ${valueText(one)}`),
    ...pairs.flatMap(([key, one]) => (isTables(one) ? one.flatMap((each) => itemText([...path, key], each)) : [])),
  ]
}
