/** Misspelled names of settings, which would have no effect. */
import { lettersApart } from '../base/nearest.ts'
import { settings } from './all.ts'

const known: readonly string[] = Object.keys(settings)

/** The environment is for any program: a variable is meant for Parley if at most this many letters differ from a setting's name. */
const slip = 2

/** Names in the file that are no setting. The file is Parley's alone: each of them is reported. */
export function strangersInFile(path: string, names: readonly string[]): string[] {
  return names.filter(isUnknown).map((name) => {
    const { word, distance } = nearest(name)
    // Half of the letters wrong is no likeness any more.
    const meant = distance <= name.length / 2 ? `; the nearest is ${word}` : ''
    return `${path}: Parley knows no setting ${shown(name)}${meant}.`
  })
}

/** Variables of the environment that are one or two letters from a setting's name. */
export function slipsInEnvironment(names: readonly string[]): string[] {
  return names.filter(isUnknown).flatMap((name) => {
    const { word, distance } = nearest(name, slip)
    return distance <= slip ? [`The environment has ${shown(name)}, which is no setting; the nearest is ${word}.`] : []
  })
}

const isUnknown = (name: string): boolean => !Object.hasOwn(settings, name)

/** Never with the value, which may be a secret; a name that could steer a terminal is quoted. */
const shown = (name: string): string => (/^[A-Za-z0-9_]{1,60}$/.test(name) ? name : JSON.stringify(name.slice(0, 60)))

/** How many letters of a word another has nowhere: a count that is cheap, and never above the distance. */
function lacking(word: string, other: string): number {
  let count = 0
  for (let at = 0; at < word.length; at++) if (!other.includes(word.charAt(at))) count++
  return count
}

/** The name of a setting that is at most so many letters away, if there is one. */
function nearest(name: string, most = Number.POSITIVE_INFINITY): { word: string; distance: number } {
  const given = name.toUpperCase()
  let best = { word: '', distance: most + 1 }
  for (const word of known) {
    // Letters that one name has more than the other, or the other has not at all, are wrong in any case.
    if (Math.abs(word.length - given.length) >= best.distance) continue
    if (lacking(given, word) >= best.distance) continue
    const distance = lettersApart(given, word, Math.min(best.distance, Math.max(given.length, word.length)))
    if (distance < best.distance) best = { word, distance }
  }
  return best
}
