/** The graph of who writes to whom: a circle of agents with arrows, for many of them a matrix, and on a phone the busiest pairs as a list. */
import { type Html, html } from '../html.ts'
import { round, top } from './charts.ts'
import { arrow, shortAddress } from './people.ts'

export interface Edge {
  readonly from: string
  readonly to: string
  readonly count: number
}

interface Looks {
  readonly link: (edge: Edge) => string
  /** The class of the hue of a name or an address. */
  readonly hueOf: (address: string) => string
}

/** More agents than these do not fit around a circle. */
const mostInCircle = 40
const mostInMatrix = 60
/** With few agents labels stand upright; with more they would lie on each other. */
const mostUpright = 8
/** More numbers than these hide the lines. */
const mostNumbers = 24
const mostListed = 12
/** Letters of a name beside its disc. */
const mostShown = 24

/** The busiest agents, by name: an agent keeps its place when figures change. */
function busiest(edges: readonly Edge[], most: number): { readonly names: readonly string[]; readonly left: number } {
  const weight = new Map<string, number>()
  for (const { from, to, count } of edges)
    for (const name of [from, to]) weight.set(name, (weight.get(name) ?? 0) + count)
  const all = [...weight].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([name]) => name)
  return { names: all.slice(0, most).sort(), left: Math.max(0, all.length - most) }
}

const cut = (name: string, most: number): string => (name.length > most ? `${name.slice(0, most - 1)}…` : name)

const says = ({ from, to, count }: Edge): string => `${from} to ${to}: ${count}`

export function whoToWhom(edges: readonly Edge[], looks: Looks): Html {
  const { names, left } = busiest(edges, mostInCircle)
  return html`<div class="wide">${left === 0 ? circle(names, edges, looks) : matrix(edges, looks)}</div>
<ol class="pairs">${edges.slice(0, mostListed).map((edge) => html`<li><a href="${looks.link(edge)}"><span><bdi>${shortAddress(edge.from)}</bdi>${arrow}<bdi>${shortAddress(edge.to)}</bdi></span><b>${edge.count}</b></a></li>`)}</ol>`
}

/** Places are stable, the width and the number tell how much. */
function circle(names: readonly string[], edges: readonly Edge[], { link, hueOf }: Looks): Html {
  const radius = Math.min(240, Math.max(120, names.length * 22))
  const upright = names.length <= mostUpright
  // The longest label has room beyond the circle; where labels lie along the rays, on all sides.
  const room = 2 * (28 + 7 * Math.max(...names.map((name) => Math.min(mostShown, shortAddress(name).length))))
  const [width, height] = [radius * 2 + room, radius * 2 + (upright ? 64 : room)]
  const [cx, cy] = [width / 2, height / 2]
  // A line that stands for one message is thin, also where all do.
  const most = Math.max(5, top(edges))
  const places = new Map(
    names.map((name, at) => {
      const angle = (at / names.length) * 2 * Math.PI - Math.PI / 2
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
      return [name, { x: cx + radius * cos, y: cy + radius * sin, angle, right: cos >= -0.01 }]
    }),
  )
  const lines = edges.flatMap((edge) => {
    const [from, to] = [places.get(edge.from), places.get(edge.to)]
    if (from === undefined || to === undefined || from === to) return []
    const [mx, my] = [(from.x + to.x) / 2, (from.y + to.y) / 2]
    // Bent towards the middle, and to its own side: the way back has a line of its own.
    const bend = { x: mx + (cx - mx) * 0.4 + (to.y - from.y) * 0.08, y: my + (cy - my) * 0.4 - (to.x - from.x) * 0.08 }
    const tip = shortOf(bend, to, 13)
    const number = onCurve(from, bend, to, 0.27)
    return [
      html`<a href="${link(edge)}" aria-label="${says(edge)}"><title>${says(edge)}</title><path class="edge w${Math.ceil((edge.count / most) * 5)}" marker-end="url(#tip)" d="M${round(from.x)} ${round(from.y)}Q${round(bend.x)} ${round(bend.y)} ${round(tip.x)} ${round(tip.y)}"></path></a>${edges.length <= mostNumbers && html`<text class="many" aria-hidden="true" x="${round(number.x)}" y="${round(number.y + 4)}" text-anchor="middle">${edge.count}</text>`}`,
    ]
  })
  const nodes = [...places].map(([name, { x, y, angle, right }]) => {
    const [away, turn] = [right ? 14 : -14, (angle * 180) / Math.PI + (right ? 0 : 180)]
    const place = html`x="${round(x + away)}" y="${round(y + 4)}" text-anchor="${right ? 'start' : 'end'}"`
    return html`<circle class="node ${hueOf(name)}" cx="${round(x)}" cy="${round(y)}" r="8"></circle><text class="label" ${place}${!upright && html` transform="rotate(${round(turn)} ${round(x)} ${round(y)})"`}>${cut(shortAddress(name), mostShown)}<title>${name}</title></text>`
  })
  return html`<svg class="chart graph" width="${width}" viewBox="0 0 ${width} ${height}" role="group" aria-label="Who writes to whom"><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"></path></marker></defs>${lines}${nodes}</svg>`
}

interface Point {
  readonly x: number
  readonly y: number
}

/** A point of a bent line. A number stands nearer to who writes: in the middle of the circle all lines meet. */
function onCurve(from: Point, bend: Point, to: Point, part: number): Point {
  const [a, b, c] = [(1 - part) ** 2, 2 * part * (1 - part), part ** 2]
  return { x: a * from.x + b * bend.x + c * to.x, y: a * from.y + b * bend.y + c * to.y }
}

/** The point so far before the end of a line: arrows touch a disc and do not lie under it. */
function shortOf(from: Point, to: Point, by: number): Point {
  const long = Math.hypot(to.x - from.x, to.y - from.y)
  const part = long === 0 ? 0 : Math.max(0, 1 - by / long)
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}

/** A row for each who writes, a column for each who gets it. */
function matrix(edges: readonly Edge[], { link }: Looks): Html {
  const { names, left } = busiest(edges, mostInMatrix)
  const shown = new Set(names)
  const by = new Map(edges.map((edge) => [`${edge.from}\n${edge.to}`, edge]))
  const inside = edges.filter(({ from, to }) => shown.has(from) && shown.has(to))
  const senders = names.filter((name) => inside.some(({ from }) => from === name))
  const receivers = names.filter((name) => inside.some(({ to }) => to === name))
  const most = top(inside)
  return html`<div class="scrolls" tabindex="0" role="group" aria-label="Who writes to whom"><table class="matrix"><thead><tr><td></td>${receivers.map((name) => html`<th scope="col" title="${name}"><span>${cut(shortAddress(name), 24)}</span></th>`)}</tr></thead>
<tbody>${senders.map(
    (from) =>
      html`<tr><th scope="row" title="${from}">${cut(shortAddress(from), 24)}</th>${receivers.map((to) => {
        const edge = by.get(`${from}\n${to}`)
        return edge === undefined
          ? html`<td></td>`
          : html`<td class="m${Math.ceil((edge.count / most) * 5)}"><a href="${link(edge)}" title="${says(edge)}">${edge.count}<span class="visually-hidden"> from ${from} to ${to}</span></a></td>`
      })}</tr>`,
  )}</tbody></table></div><p class="hint">From the agent at the left to the one above.${left > 0 && ` The ${names.length} busiest; ${left} write less.`}</p>`
}
