/** Edits of JSON with comments: only the text of the edit itself changes. */
import { type Edit, type Item, indexOfItem, type Json, LeaveAlone, type Placed, type SettingsText } from '../shapes.ts'
import { endsOfLine, insertInto, removeFrom, replaceValue } from './json-layout.ts'
import { getNodeValue, type JsonNode, needObject, parseObject } from './json-tree.ts'

type Path = readonly string[]

export const jsonText: SettingsText = {
  find(text, edit) {
    const place = needPlace(edit)
    const { node, missing } = walk(parseObject(text), place.path)
    if (missing.length > 0) return undefined
    if (place.kind === 'entry') return getNodeValue(node)
    const own = itemIn(node, place)
    return own && getNodeValue(own)
  },
  put(given, edit) {
    const { path, value, kind } = needPlace(edit)
    const text = /\S/.test(given) ? given : `{}${endsOfLine(given)}`
    const { node, missing } = walk(parseObject(text), path)
    if (missing.length === 0) {
      if (kind === 'item') return { text: insertInto(text, needList(node, path), value), holders: 0 }
      return { text: replaceValue(text, node, value), holders: 0 }
    }
    const [key = '', ...deeper] = missing
    const leaf: Json = kind === 'item' ? [value] : value
    const nested = deeper.toReversed().reduce<Json>((inner, name) => ({ [name]: inner }), leaf)
    const holder = needObject(node, path.slice(0, path.length - missing.length))
    return {
      text: insertInto(text, holder, nested, key),
      holders: missing.length - (kind === 'item' ? 0 : 1),
    }
  },
  take(text, { edit, holders }) {
    const place = needPlace(edit)
    const { node, missing } = walk(parseObject(text), place.path)
    if (missing.length > 0) return text
    const own = place.kind === 'entry' ? node.parent : itemIn(node, place)
    return own === undefined ? text : takeHolders(removeFrom(text, own), place.path, { kind: place.kind, holders })
  },
}

/** Objects and lists that were made for the edit go too, once they are empty. */
function takeHolders(text: string, path: Path, { kind, holders }: { kind: Edit['kind']; holders: number }): string {
  let rest = text
  const first = kind === 'item' ? path.length : path.length - 1
  for (let length = first; length > first - holders; length--) {
    const { node, missing } = walk(parseObject(rest), path.slice(0, length))
    const inside = rest.slice(node.offset + 1, node.offset + node.length - 1)
    if (missing.length > 0 || node.parent === undefined || inside.trim() !== '') return rest
    rest = removeFrom(rest, node.parent)
  }
  return rest
}

/** As far along the path as there is something. */
function walk(root: JsonNode, path: Path): { node: JsonNode; missing: Path } {
  let node = root
  for (const [depth, key] of path.entries()) {
    const own = needObject(node, path.slice(0, depth)).children?.filter(
      ({ children: [name] = [] }) => name?.value === key,
    )
    if (own !== undefined && own.length > 1) throw new LeaveAlone(`the key ${JSON.stringify(key)} stands in it twice`)
    const value = own?.[0]?.children?.[1]
    if (value === undefined) return { node, missing: path.slice(depth) }
    node = value
  }
  return { node, missing: [] }
}

function itemIn(node: JsonNode, item: Item): JsonNode | undefined {
  const { children = [] } = needList(node, item.path)
  return children[indexOfItem(children.map(getNodeValue), item)]
}

function needList(node: JsonNode, path: Path): JsonNode {
  if (node.type === 'array') return node
  throw new LeaveAlone(`${path.join('.')} is no list`)
}

function needPlace(edit: Edit): Exclude<Placed['edit'], { kind: 'block' }> {
  if (edit.kind !== 'block') return edit
  throw new TypeError('JSON takes entries and items, not blocks.')
}
