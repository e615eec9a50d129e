/** Numbers, times and names as people read them. */
import { ago, iso } from '../../words/times.ts'
import { harmlessLine } from './harmless.ts'
import type { Screen } from './screen.ts'

export const count = (number: number, one: string): string =>
  `${number.toLocaleString('en')} ${one}${number === 1 ? '' : 's'}`

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** Three digits are enough. */
export function size(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`
}

/** How long ago for a person, the exact time for a program. */
export const when = ({ tty }: Pick<Screen, 'tty'>, ms: number, now: number): string => (tty ? ago(ms, now) : iso(ms))

export const quoted = (name: string): string => harmlessLine(JSON.stringify(name))
