/** Whether some path is matched by two patterns: both are walked as automata, side by side, on the same characters. */
import { anyCharacter, type Characters, common, type Part } from './parts.ts'

/**
 * A path is read with a slash behind each segment, `src/a.ts/`, and a pattern likewise. So `**` and the slash behind it
 * are together any number of whole segments, also none.
 */
type Node =
  | { readonly kind: 'one'; readonly of: Characters; readonly to: number }
  | { readonly kind: 'slash'; readonly to: number }
  | { readonly kind: 'fork'; readonly to: readonly number[] }
  /** `**`: passed only where a segment begins. What follows is skipped up to its slash, or it was no whole segment. */
  | { readonly kind: 'gate'; readonly within: number; readonly beyond: number }
  | { readonly kind: 'end' }

export interface Automaton {
  readonly nodes: readonly Node[]
  readonly start: number
}

export function automaton(parts: readonly Part[]): Automaton {
  const nodes: Node[] = [{ kind: 'end' }, { kind: 'slash', to: 0 }]
  const add = (node: Node): number => nodes.push(node) - 1
  /** Nodes are made from the last to the first; a loop is closed by naming the node that comes next. */
  const entry = (parts: readonly Part[], to: number): number => parts.reduceRight((to, part) => enter(part, to), to)
  const enter = (part: Part, to: number): number => {
    switch (part.kind) {
      case 'one':
        return add({ kind: 'one', of: part.of, to })
      case 'slash':
        return add({ kind: 'slash', to })
      case 'either':
        return add({ kind: 'fork', to: part.options.map((option) => entry(option, to)) })
      case 'star':
        return star(to)
      case 'stars': {
        const plain = star(to)
        const gate = nodes.length + 4
        const more = star(add({ kind: 'slash', to: gate }))
        const within = add({ kind: 'one', of: anyCharacter, to: more })
        return add({ kind: 'fork', to: [add({ kind: 'gate', within, beyond: to }), plain] })
      }
    }
  }
  const star = (to: number): number => {
    const any = add({ kind: 'one', of: anyCharacter, to: nodes.length + 1 })
    return add({ kind: 'fork', to: [any, to] })
  }
  return { nodes, start: entry(parts, 1) }
}

/** The part of a segment read until now: no segment is empty, `.` or `..`, and no path has no segment. */
const shape = { none: 0, begin: 1, dot: 2, dots: 3, name: 4 } as const
const shapes = 5
/** By shape. */
const afterDot = [shape.dot, shape.dot, shape.dots, shape.name, shape.name]

/** How much work may still be done: a step is a pair of places that is visited, some 0.1 µs. */
export interface Budget {
  steps: number
}

/** The comparison would have taken more steps than there were left. */
export class OverBudget extends Error {}

/**
 * A path that both match, or undefined. Each pair of places is visited once, so that the work is at most the product of
 * the two lengths, whatever the patterns are.
 */
export function sharedPath(one: Automaton, other: Automaton, budget?: Budget): string | undefined {
  // A place is twice its node, and one more while what follows is skipped.
  const width = other.nodes.length * 2
  const seen = new Uint8Array(one.nodes.length * 2 * width * shapes)
  const keys: number[] = []
  const origins: number[] = []
  const letters: string[] = []
  let at = -1

  visit(one.start * 2, other.start * 2, shape.none)
  for (at = 0; at < keys.length; at++) {
    if (budget !== undefined && --budget.steps < 0) throw new OverBudget('Two patterns are too hard to compare.')
    const key = keys[at] as number
    const read = key % shapes
    const pair = (key - read) / shapes
    const b = pair % width
    const a = (pair - b) / width
    const nodeA = one.nodes[a >> 1] as Node
    const nodeB = other.nodes[b >> 1] as Node
    if (isPassed(nodeA, a)) pass(nodeA, a, read, (to) => visit(to, b, read))
    else if (isPassed(nodeB, b)) pass(nodeB, b, read, (to) => visit(a, to, read))
    else if (nodeA.kind === 'one' && nodeB.kind === 'one') {
      const { dot, letter } = common(nodeA.of, nodeB.of)
      if (dot) visit(nodeA.to * 2, nodeB.to * 2, afterDot[read] ?? shape.name, '.')
      if (letter !== undefined) visit(nodeA.to * 2, nodeB.to * 2, shape.name, letter)
    } else if (nodeA.kind === 'slash' && nodeB.kind === 'slash') {
      if (read === shape.name) visit(nodeA.to * 2, nodeB.to * 2, shape.begin, '/')
    } else if (nodeA.kind === 'end' && nodeB.kind === 'end' && read === shape.begin) return spelled()
  }
  return undefined

  function visit(a: number, b: number, read: number, letter = ''): void {
    const key = (a * width + b) * shapes + read
    if (seen[key] === 1) return
    seen[key] = 1
    keys.push(key)
    origins.push(at)
    letters.push(letter)
  }

  function spelled(): string {
    let text = ''
    for (let step = at; step >= 0; step = origins[step] ?? -1) text = (letters[step] ?? '') + text
    return text.slice(0, -1)
  }
}

/** Whether nothing is read at this place. */
const isPassed = ({ kind }: Node, place: number): boolean => kind === 'fork' || kind === 'gate' || place % 2 === 1

/** While something is skipped, only a slash ends that; characters and the end lead nowhere. */
function pass(node: Node, place: number, read: number, visit: (to: number) => void): void {
  const skipping = place % 2
  if (node.kind === 'fork') for (const to of node.to) visit(to * 2 + skipping)
  else if (node.kind === 'slash') visit(node.to * 2)
  else if (node.kind === 'gate' && skipping === 0 && read <= shape.begin) {
    visit(node.within * 2)
    visit(node.beyond * 2 + 1)
  }
}
