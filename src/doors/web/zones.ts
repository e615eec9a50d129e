/** Time zones: a script keeps the one of the browser in a cookie; without it times are in UTC (web.times.zone). */

const mostKept = 100
const formats = new Map<string, Intl.DateTimeFormat>()

/** A name from a cookie, if it is that of a time zone; else UTC. */
export function readZone(name: string | undefined): string {
  if (name === undefined || name.length > 64) return 'UTC'
  try {
    const zone = decodeURIComponent(name)
    return formatOf(zone) === undefined ? 'UTC' : zone
  } catch {
    return 'UTC'
  }
}

/** There are some hundred names: a name that is none throws. The Swedish way to write a time is that of ISO. */
function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  if (!/^[A-Za-z0-9_+\-/]+$/.test(zone)) return undefined
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone })
  // Names are taken in any case: there are more ways to write them than are worth keeping.
  if (formats.size >= mostKept) formats.clear()
  formats.set(zone, made)
  return made
}

/** As `2026-11-18 17:05:12`. */
export const timeIn = (zone: string, at: number): string =>
  zone === 'UTC' ? new Date(at).toISOString().slice(0, 19).replace('T', ' ') : (formatOf(zone)?.format(at) ?? '')
