/** The wakes of real clients that are kept, in bench/wakes.json: README.md and docs/waking.md show them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machine, today } from '../../../bench/machine.ts'
import { table } from '../../docs/markdown.ts'

export interface Woken {
  readonly client: string
  readonly version: string
  readonly way: string
  /** Of each wake: from the call of the sender to the request that the model got. */
  readonly ms: readonly number[]
}

interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
  readonly count: number
}

/** The contents of bench/wakes.json. */
export type Wakes = readonly (Omit<Woken, 'ms'> & Spread & { readonly day: string; readonly machine: string })[]

/** A newer run of a client takes the place of the one before. */
export function keepWakes(root: string, woken: readonly Woken[]): void {
  const file = join(root, 'bench/wakes.json')
  const kept = new Map((JSON.parse(readFileSync(file, 'utf8')) as Wakes).map((one) => [one.client, one]))
  for (const { ms, ...one } of woken)
    kept.set(one.client, { ...one, ...spreadOf(ms), day: today(), machine: machine.replace(/, Node.*/, '') })
  writeFileSync(file, `${JSON.stringify([...kept.values()], undefined, 2)}\n`)
}

function spreadOf(all: readonly number[]): Spread {
  const ms = all.toSorted((one, other) => one - other).map(Math.round)
  const at = (place: number) => ms.at(place) ?? Number.NaN
  return { median: at(Math.floor(ms.length / 2)), least: at(0), most: at(-1), count: ms.length }
}

/** `143 (120–211)`: the median, the least and the most. */
export const shortly = ({ median, least, most }: Omit<Spread, 'count'>): string => `${median} (${least}–${most})`

export const shortlyOf = (all: readonly number[]): string => shortly(spreadOf(all))

/** For the terminal. */
export const wakesTable = (woken: readonly Woken[]): string =>
  table(
    ['client', 'way in', 'mail → model, ms: median (least–most)', 'wakes'],
    woken.map(({ client, version, way, ms }) => [`${client} ${version}`, way, shortlyOf(ms), String(ms.length)]),
  )
