/** How JSON is laid out: indentation, ends of lines, and where a new child of an object or a list goes. */
import type { Json } from '../shapes.ts'
import { between, type JsonNode } from './json-tree.ts'

interface Style {
  readonly eol: string
  /** One step of indentation. */
  readonly unit: string
}

export const endsOfLine = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n'

function styleOf(text: string): Style {
  const [, unit = '  '] = /^\s*[{[]\s*?\n([ \t]+)\S/.exec(text) ?? /\n(\t+| +)["{[]/.exec(text) ?? []
  return { eol: endsOfLine(text), unit }
}

/** Puts another value in the place of one: on one line where that was, else as deep as its line. */
export function replaceValue(text: string, { offset, length }: JsonNode, value: Json): string {
  const { eol, unit } = styleOf(text)
  const old = text.slice(offset, offset + length)
  const lines = old.includes('\n') ? JSON.stringify(value, null, unit) : JSON.stringify(value)
  return text.slice(0, offset) + lines.replaceAll('\n', `${eol}${indentOf(text, offset)}`) + text.slice(offset + length)
}

/** The white space at the beginning of the line of a place. */
function indentOf(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/** Puts a child at the end of an object (with its key) or a list. */
export function insertInto(text: string, holder: JsonNode, value: Json, key?: string): string {
  const { eol, unit } = styleOf(text)
  const [open, close] = [holder.offset + 1, holder.offset + holder.length - 1]
  const inside = text.slice(open, close)
  const base = indentOf(text, holder.offset)
  const child = (indent?: string): string => {
    const json = JSON.stringify(value, null, indent === undefined ? undefined : unit)
    const name = key === undefined ? '' : `${JSON.stringify(key)}:${indent === undefined ? '' : ' '}`
    return name + json.replaceAll('\n', `${eol}${indent}`)
  }
  const last = holder.children?.at(-1)
  if (last === undefined) {
    const kept = inside.trimEnd()
    const rest = inside.slice(kept.length)
    const end = kept !== '' && rest.includes('\n') ? rest : `${eol}${base}`
    return `${text.slice(0, open)}${kept}${eol}${base}${unit}${child(`${base}${unit}`)}${end}${text.slice(close)}`
  }
  const lastEnd = last.offset + last.length
  const { comma, lineEnd } = between(text, lastEnd, close)
  if (!inside.includes('\n')) {
    const spaced = /[,:] /.test(inside) ? ' ' : ''
    const at = comma === undefined ? lastEnd : comma + 1
    const added = comma === undefined ? `,${spaced}${child()}` : `${spaced}${child()},`
    return text.slice(0, at) + added + text.slice(at)
  }
  const ownLine = text.slice(text.lastIndexOf('\n', last.offset - 1) + 1, last.offset)
  const indent = ownLine.trim() === '' ? ownLine : `${base}${unit}`
  const added = `${eol}${indent}${child(indent)}`
  if (comma !== undefined) return `${text.slice(0, lineEnd)}${added},${text.slice(lineEnd)}`
  return `${text.slice(0, lastEnd)},${text.slice(lastEnd, lineEnd)}${added}${text.slice(lineEnd)}`
}

/** Takes out a property or an item, with its comma and its line; comments around it stay. */
export function removeFrom(text: string, child: JsonNode): string {
  const holder = child.parent
  if (holder?.children === undefined) return text
  const [offset, end] = [child.offset, child.offset + child.length]
  const close = holder.offset + holder.length - 1
  const index = holder.children.indexOf(child)
  const next = holder.children[index + 1]
  const before = holder.children[index - 1]
  const { comma } = between(text, end, next?.offset ?? close)
  const after = comma === undefined ? end : comma + 1
  const [, gap = ''] = /(\r?\n[ \t]*|[ \t]*)$/.exec(text.slice(0, offset)) ?? []
  // The rest of the line stays on a line of its own: the one before may end with a comment.
  const alone = /^[ \t]*(\r?\n|$)/.test(text.slice(after))
  const from = alone || !gap.includes('\n') ? offset - gap.length : offset
  if (comma !== undefined) return text.slice(0, from) + text.slice(end, comma) + text.slice(comma + 1)
  if (before !== undefined) {
    const beforeEnd = before.offset + before.length
    const at = between(text, beforeEnd, offset).comma ?? beforeEnd
    return text.slice(0, at) + text.slice(at + 1, from) + text.slice(end)
  }
  const [head, tail] = [text.slice(holder.offset + 1, from), text.slice(end, close)]
  const inside = (head + tail).trim() === '' ? '' : head + tail
  return text.slice(0, holder.offset + 1) + inside + text.slice(close)
}
