/** A line of the table that `npm run bench` prints. */

export interface Row {
  what: string
  measured: string
  target: string
  reached: boolean
}

/** How much of its floor a call reaches; both in microseconds. */
export function share(what: string, floor: number, time: number, target: number): Row {
  const percent = (100 * floor) / time
  return {
    what,
    measured: `${percent.toFixed(0)} % (${time.toFixed(0)} µs a call, floor ${floor.toFixed(0)} µs, ${Math.round(1e6 / time)}/s)`,
    target: `≥ ${target} %`,
    reached: percent >= target,
  }
}
