/** Hues of names: the colour that a name carries, else one by its letters, and another where somebody beside it has that. */
import { nameKey } from './names.ts'

const hues = Array.from({ length: 16 }, (_, n) => `h${n}`)

/** Words of colours, by the hue that they are shown in. */
const colours: Readonly<Record<string, readonly string[]>> = {
  h0: ['rose', 'rosy', 'pink'],
  h1: ['red', 'crimson', 'scarlet', 'ruby'],
  h2: ['orange', 'coral', 'copper', 'rust', 'bronze', 'brown'],
  h3: ['amber', 'hazel'],
  h4: ['yellow', 'gold', 'golden', 'sunny'],
  h5: ['olive', 'lime'],
  h6: ['green', 'emerald', 'jade', 'mint', 'forest'],
  h8: ['teal', 'cyan', 'turquoise', 'aqua'],
  h10: ['azure', 'sky'],
  h11: ['blue', 'cobalt', 'navy', 'sapphire'],
  h12: ['indigo'],
  h13: ['violet', 'purple', 'lavender', 'plum'],
  h14: ['magenta'],
  neutral: ['white', 'silver', 'grey', 'gray', 'black', 'snowy', 'slate', 'ivory'],
}

const byColour = new Map(Object.entries(colours).flatMap(([hue, words]) => words.map((word) => [word, hue] as const)))

/** The colour that a name carries: BlueLake is blue. */
export function namedHue(name: string): string | undefined {
  const words = name.match(/\p{Lu}?\p{Ll}+|\p{Lu}+/gu) ?? []
  return words.map((word) => byColour.get(word.toLowerCase())).find((hue) => hue !== undefined)
}

/** The hue of its letters (FNV-1a), or the next of those that the fewest wear. */
export function freeHue(name: string, wornBy: (hue: string) => number = () => 0): string {
  let hash = 0x811c9dc5
  for (const char of nameKey(name)) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  const first = (hash >>> 0) % hues.length
  const inTurn = [...hues.slice(first), ...hues.slice(0, first)]
  const fewest = Math.min(...inTurn.map(wornBy))
  return inTurn.find((hue) => wornBy(hue) === fewest) ?? 'h0'
}
