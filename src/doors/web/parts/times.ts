/** Times as people read them: how long ago in the text, the exact moment on hover and for programs. */
import { hence, iso } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import type { Visit } from '../site.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

export const exact = (at: number): string => `${iso(at).slice(0, 19).replace('T', ' ')} UTC`

function short(at: number, now: number): string {
  const age = now - at
  if (age < minute) return 'now'
  if (age < hour) return `${Math.floor(age / minute)} min`
  if (age < day) return `${Math.floor(age / hour)} h`
  if (age < 7 * day) return `${Math.floor(age / day)} d`
  const date = new Date(at)
  const thisYear = new Date(now).getUTCFullYear() === date.getUTCFullYear()
  const name = `${date.getUTCDate()} ${months[date.getUTCMonth()]}`
  return thisYear ? name : `${name} ${date.getUTCFullYear()}`
}

/** `age`: how a script keeps it true. */
const stamp = (at: number, shown: string, age?: 'short' | 'ago' | 'for'): Html =>
  html`<time datetime="${iso(at)}" title="${exact(at)}"${age && html` data-age="${age}"`}>${shown}</time>`

export const shortTime = ({ now }: Pick<Visit, 'now'>, at: number): Html => stamp(at, short(at, now), 'short')

/** In a sentence; the date past a month. */
export function longTime({ now }: Pick<Visit, 'now'>, at: number): Html {
  const said = short(at, now)
  return stamp(at, said === 'now' ? 'just now' : /^\d+ (min|h|d)$/.test(said) ? `${said} ago` : said, 'ago')
}

/** How long it has been, within a sentence. */
export const ageTime = ({ now }: Pick<Visit, 'now'>, at: number): Html => {
  const said = short(at, now)
  return stamp(at, said === 'now' ? 'a moment' : said, 'for')
}

/** The time of day, with the day unless it is today. */
export function clockTime({ now }: Pick<Visit, 'now'>, at: number): Html {
  const [date, today] = [new Date(at), new Date(now)]
  const clock = iso(at).slice(11, 16)
  const day = `${date.getUTCDate()} ${months[date.getUTCMonth()]}`
  return stamp(at, date.toDateString() === today.toDateString() ? clock : `${day} ${clock}`)
}

export const fullTime = (at: number): Html => stamp(at, exact(at))

export const untilTime = ({ now }: Pick<Visit, 'now'>, at: number): Html => stamp(at, hence(at, now))

export const monthName = (month: string): string => {
  const [year, number] = month.split('-')
  return `${months[Number(number) - 1] ?? month} ${year ?? ''}`
}
