/** Whether a pattern matches a path, for many paths: the automaton of the pattern is walked once for each set of its places. */
import { automatonOf, type Glob } from './globs.ts'
import type { Automaton } from './paths.ts'

/** A set of places that reading has come to; what follows it is added while paths are read. */
interface State {
  readonly places: readonly number[]
  /** Whether the pattern ends here. */
  readonly ends: boolean
  /** By the code that is read: those of ASCII, and the others. */
  readonly next: (State | undefined)[]
  readonly beyond: Map<number, State>
}

const ascii = 128
const slash = 0x2f

/** A path as it is read: its code points, with a slash behind each segment. */
type ReadPath = readonly number[]

export const readPath = (path: string): ReadPath => Array.from(`${path}/`, (character) => character.codePointAt(0) ?? 0)

/**
 * Answers as `overlaps` does for the pattern that is only this path. A step is a look into a map, some 20 ns, where
 * walking two automata side by side takes 20 µs a path.
 */
export function matcherOf(glob: Glob): (path: ReadPath) => boolean {
  const automaton = automatonOf(glob)
  const states = new Map<string, State>()
  const stateOf = (from: readonly number[], begins: boolean): State => {
    const places = passed(automaton, from, begins)
    const key = places.join()
    const known = states.get(key)
    if (known !== undefined) return known
    const ends = places.some((place) => automaton.nodes[place >> 1]?.kind === 'end')
    const state = { places, ends, next: [], beyond: new Map() }
    states.set(key, state)
    return state
  }
  const step = (state: State, code: number): State => {
    const next = stateOf(read(automaton, state.places, code), code === slash)
    if (code < ascii) state.next[code] = next
    else state.beyond.set(code, next)
    return next
  }
  const start = stateOf([automaton.start * 2], true)
  return (path) => {
    let state = start
    for (const code of path) {
      state = (code < ascii ? state.next[code] : state.beyond.get(code)) ?? step(state, code)
      if (state.places.length === 0) return false
    }
    return state.ends
  }
}

/** The places where something is read, or the path ends. A place is twice its node, and one more while what follows is skipped. */
function passed({ nodes }: Automaton, from: readonly number[], begins: boolean): number[] {
  const seen = new Set(from)
  const resting: number[] = []
  // A set is walked in the order of insertion, and what is added meanwhile is walked too.
  for (const place of seen) {
    const node = nodes[place >> 1]
    const skipping = place % 2
    if (node?.kind === 'fork') for (const to of node.to) seen.add(to * 2 + skipping)
    else if (node?.kind === 'gate') {
      if (skipping === 0 && begins) seen.add(node.within * 2).add(node.beyond * 2 + 1)
    } else if (skipping === 0) resting.push(place)
    else if (node?.kind === 'slash') seen.add(node.to * 2)
  }
  return resting.sort((a, b) => a - b)
}

function read({ nodes }: Automaton, places: readonly number[], code: number): number[] {
  return places.flatMap((place) => {
    const node = nodes[place >> 1]
    if (node?.kind === 'slash') return code === slash ? [node.to * 2] : []
    if (node?.kind !== 'one') return []
    return node.of.ranges.some(([first, last]) => first <= code && code <= last) ? [node.to * 2] : []
  })
}
