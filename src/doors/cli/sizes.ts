/** How much something is, as people say it. */

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
