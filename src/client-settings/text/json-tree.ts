/** JSON with comments as a tree of nodes that know their place in the text. */
import { createScanner, type Node, type ParseError, parseTree, getNodeValue as valueIn } from 'jsonc-parser'
import { type Json, LeaveAlone } from '../shapes.ts'

export type JsonNode = Node

export function parseObject(text: string): JsonNode {
  // Some clients make an empty file first.
  const whole = /\S/.test(text) ? text : '{}'
  const errors: ParseError[] = []
  const root = parseTree(whole, errors, { allowTrailingComma: true })
  const [fault] = errors
  if (root === undefined || fault !== undefined)
    throw new LeaveAlone(`line ${lineOf(whole, fault?.offset ?? 0)} of it is no JSON: mend it, and run init again`)
  return needObject(root, [])
}

export function needObject(node: JsonNode, path: readonly string[]): JsonNode {
  if (node.type === 'object') return node
  throw new LeaveAlone(`${path.length === 0 ? 'it' : path.join('.')} is no object of JSON`)
}

/** Plain objects: those of the package have no prototype, and would equal none of ours. */
export const getNodeValue = (node: JsonNode): Json => JSON.parse(JSON.stringify(valueIn(node))) as Json

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

/** Kinds of tokens, by the numbers that the package gives them. */
const kinds = { comma: 5, lineComment: 12, blockComment: 13, lineBreak: 14, end: 17 } as const

/** The text between two nodes: the comma, if there is one, and the end of the comments on the line of the first. */
export function between(text: string, from: number, to: number): { comma: number | undefined; lineEnd: number } {
  const scanner = createScanner(text, false)
  let [comma, lineEnd, sameLine]: [number | undefined, number, boolean] = [undefined, from, true]
  scanner.setPosition(from)
  for (let token: number = scanner.scan(); scanner.getTokenOffset() < to; token = scanner.scan()) {
    const end = scanner.getTokenOffset() + scanner.getTokenLength()
    // A comma on a later line begins what counts anew.
    if (token === kinds.comma) [comma, lineEnd, sameLine] = [scanner.getTokenOffset(), end, true]
    else if (token === kinds.lineBreak) sameLine = false
    else if ((token === kinds.lineComment || token === kinds.blockComment) && sameLine) lineEnd = end
    else if (token === kinds.end) break
  }
  return { comma, lineEnd }
}
