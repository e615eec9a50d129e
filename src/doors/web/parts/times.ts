/** Times as people read them: how long ago in the text, the exact moment on hover and for programs. */
import { hence, iso } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import type { Visit } from '../site.ts'
import { timeIn } from '../zones.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

type Looking = Pick<Visit, 'now' | 'zone'>

/** The moment in the person's time zone, which is named. */
export const exact = ({ zone }: Pick<Visit, 'zone'>, at: number): string => `${timeIn(zone, at)} ${zone}`

function short({ now, zone }: Looking, at: number): string {
  const age = now - at
  if (age < minute) return 'now'
  if (age < hour) return `${Math.floor(age / minute)} min`
  if (age < day) return `${Math.floor(age / hour)} h`
  if (age < 7 * day) return `${Math.floor(age / day)} d`
  const [year = '', month = '', date = ''] = timeIn(zone, at).slice(0, 10).split('-')
  const name = `${Number(date)} ${months[Number(month) - 1]}`
  return timeIn(zone, now).startsWith(year) ? name : `${name} ${year}`
}

/** `age`: how a script keeps it true. */
const stamp = (visit: Looking, at: number, shown: string, age?: 'short' | 'ago' | 'for'): Html =>
  html`<time datetime="${iso(at)}" title="${exact(visit, at)}"${age && html` data-age="${age}"`}>${shown}</time>`

export const shortTime = (visit: Looking, at: number): Html => stamp(visit, at, short(visit, at), 'short')

/** In a sentence; the date past a month. */
export function longTime(visit: Looking, at: number): Html {
  const said = short(visit, at)
  return stamp(visit, at, said === 'now' ? 'just now' : /^\d+ (min|h|d)$/.test(said) ? `${said} ago` : said, 'ago')
}

/** How long it has been, within a sentence. */
export const ageTime = (visit: Looking, at: number): Html => {
  const said = short(visit, at)
  return stamp(visit, at, said === 'now' ? 'a moment' : said, 'for')
}

/** The time of day, with the day unless it is today. */
export function clockTime(visit: Looking, at: number): Html {
  const [then, today] = [timeIn(visit.zone, at), timeIn(visit.zone, visit.now)]
  const [, month = '', date = ''] = then.slice(0, 10).split('-')
  const clock = then.slice(11, 16)
  const isToday = then.slice(0, 10) === today.slice(0, 10)
  return stamp(visit, at, isToday ? clock : `${Number(date)} ${months[Number(month) - 1]} ${clock}`)
}

export const fullTime = (visit: Looking, at: number): Html => stamp(visit, at, exact(visit, at))

export const untilTime = (visit: Looking, at: number): Html => stamp(visit, at, hence(at, visit.now))

export const monthName = (month: string): string => {
  const [year, number] = month.split('-')
  return `${months[Number(number) - 1] ?? month} ${year ?? ''}`
}
