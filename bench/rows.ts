/** A line of the table that `npm run bench` prints. */
import { type Cost, cpus, ratios, type Spread, spread, walls } from './turns.ts'

export interface Row {
  what: string
  measured: string
  target: string
  reached: boolean
  /** The product against itself: a difference within this is none. */
  noise?: string
  /** The product against the older tree, in time: below 1 is faster. */
  against?: string
}

export interface Slices {
  /** The parts of the floor, which add up. */
  readonly floor: readonly (readonly Cost[])[]
  readonly parley: readonly Cost[]
  readonly again?: readonly Cost[]
  readonly older?: readonly Cost[]
}

const times = ({ median, low, high }: Spread): string => `${median.toFixed(2)} × (${low.toFixed(2)}–${high.toFixed(2)})`

/** `a` against `b`. */
export const beside = (a: readonly Cost[], b: readonly Cost[]): string =>
  `${times(ratios(walls(a), walls(b)))}, CPU ${ratios(cpus(a), cpus(b)).median.toFixed(2)} ×`

/** How much of its floor a call reaches, by the rounds in which both ran. */
export function share(what: string, { floor, parley, again, older }: Slices, target?: number): Row {
  const [wall, cpu] = [spread(walls(parley)).median, spread(cpus(parley)).median]
  const figures = `${wall.toFixed(0)} µs a call, CPU ${cpu.toFixed(0)} µs, ${Math.round(1e6 / wall)}/s`
  const floors = parley.map((_, round) => floor.reduce((sum, part) => sum + (part[round]?.wall ?? Number.NaN), 0))
  const reached = ratios(floors, walls(parley))
  const percent = (value: number) => (100 * value).toFixed(0)
  return {
    what,
    ...(target === undefined
      ? { measured: figures, target: '', reached: true }
      : {
          measured: `${percent(reached.median)} % (${percent(reached.low)}–${percent(reached.high)}): ${figures}, floor ${spread(floors).median.toFixed(0)} µs`,
          target: `≥ ${target} %`,
          reached: 100 * reached.median >= target,
        }),
    ...(again && { noise: beside(again, parley) }),
    ...(older && { against: beside(parley, older) }),
  }
}
