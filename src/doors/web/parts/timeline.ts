/** Messages over time: bars for all and a lane an agent, on one axis that ends with now. Text stands outside of the drawings, which stretch. */
import { iso } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { timeIn } from '../zones.ts'
import { type Bucket, round, top } from './charts.ts'
import { shortAddress } from './people.ts'
import { exact } from './times.ts'

interface Timed {
  /** The slug of the project. */
  readonly project: string
  readonly since: number
  readonly until: number
  readonly buckets: readonly Bucket[]
  readonly lanes: readonly { readonly agent: string; readonly buckets: readonly number[] }[]
}

const quarters = [0, 1, 2, 3] as const

export function timeline(visit: Visit, timed: Timed): Html {
  const { project, since, until, buckets, lanes } = timed
  const long = (until - since) / Math.max(1, buckets.length)
  const most = top(buckets)
  const find = (place: number, from?: string): string =>
    withQuery(at(project, 'search'), {
      from,
      since: iso(since + place * long),
      until: iso(since + (place + 1) * long - 1),
      order: 'time',
    })
  const times = buckets.map(({ ts }) => exact(visit, ts))
  const now = round(((visit.now - since) / (until - since)) * buckets.length)
  const drawing = (tall: number, says: string, inside: readonly (Html | false)[]) =>
    html`<svg class="chart" viewBox="0 0 ${buckets.length} ${tall}" preserveAspectRatio="none" role="group" aria-label="${says}">${inside}<line class="now" x1="${now}" x2="${now}" y1="0" y2="${tall}"></line></svg>`
  const bars = buckets.map(({ count }, place) => {
    const tall = count === 0 ? 0 : Math.max(2, round((count / most) * 100))
    return (
      count > 0 &&
      html`<a href="${find(place)}" aria-label="${times[place] ?? ''}: ${count}"><title>${times[place] ?? ''}: ${count}</title><rect class="hit" x="${place}" y="0" width="1" height="100"></rect><rect class="bar" x="${round(place + 0.06)}" y="${round(100 - tall)}" width="0.88" height="${tall}"></rect></a>`
    )
  })
  const peak = Math.max(1, ...lanes.flatMap(({ buckets: counts }) => counts))
  // Reached by the tab key as names: their cells are many, and in the tables below too.
  const lane = ({ agent, buckets: counts }: Timed['lanes'][number]): Html =>
    html`<a class="of" href="${withQuery(at(project, 'search'), { from: agent, since: iso(since), order: 'time' })}" title="${agent}"><bdi>${shortAddress(agent)}</bdi></a>${drawing(
      1,
      `Messages of ${agent}`,
      counts.map(
        (count, place) =>
          count > 0 &&
          html`<a href="${find(place, agent)}" tabindex="-1" aria-label="${agent}, ${times[place] ?? ''}: ${count}"><title>${agent}, ${times[place] ?? ''}: ${count}</title><rect class="cell o${Math.ceil((count / peak) * 5)}" x="${round(place + 0.06)}" y="0.1" width="0.88" height="0.8"></rect></a>`,
      ),
    )}`
  return html`<div class="timeline"><span class="of bars-name">All<span class="soft">${most} at most</span></span><div class="bars">${drawing(100, 'Messages over time', bars)}</div>
${lanes.map(lane)}<span class="of"></span><div class="axis">${quarters.map((quarter) => html`<span>${label(visit, since + (quarter / 4) * (until - since), until - since)}</span>`)}<b>now</b></div></div>`
}

const day = 86_400_000

/** The day over a week and more, else the time of the day. */
const label = ({ zone }: Visit, ts: number, span: number): string =>
  span > 2 * day ? timeIn(zone, ts).slice(5, 10) : timeIn(zone, ts).slice(11, 16)
