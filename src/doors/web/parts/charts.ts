/** Charts as SVG made on the server: figures come as attributes and classes, never as styles. */
import { type Html, html } from '../html.ts'
import { shortAddress, tint } from './people.ts'
import { exact } from './times.ts'

interface Bucket {
  readonly ts: number
  readonly count: number
}

const top = (buckets: readonly { readonly count: number }[]): number =>
  Math.max(1, ...buckets.map(({ count }) => count))

const cut = (name: string, most: number): string => (name.length > most ? `${name.slice(0, most - 1)}…` : name)

const round = (value: number): number => Math.round(value * 100) / 100

export function sparkline(buckets: readonly Bucket[]): Html {
  const [width, height, most] = [192, 32, top(buckets)]
  const step = width / Math.max(1, buckets.length)
  return html`<svg class="chart spark" viewBox="0 0 ${width} ${height}" role="img" aria-label="Messages of the last day: ${buckets.reduce((sum, { count }) => sum + count, 0)}">${buckets.map(
    ({ count }, at) => {
      const tall = count === 0 ? 1 : Math.max(2, round((count / most) * height))
      return html`<rect class="bar" x="${round(at * step)}" y="${round(height - tall)}" width="${round(step - 1)}" height="${tall}"></rect>`
    },
  )}</svg>`
}

/** Bars over time, with the largest number and some times on the axis. */
export function bars(buckets: readonly Bucket[], label: (ts: number) => string): Html {
  const [width, height, left, most] = [880, 160, 40, top(buckets)]
  const step = (width - left) / Math.max(1, buckets.length)
  const every = Math.ceil(buckets.length / 8)
  return html`<svg class="chart bars" viewBox="0 0 ${width} ${height + 24}" role="img" aria-label="Messages over time">
<line class="axis" x1="${left}" x2="${width}" y1="${height}" y2="${height}"></line><line class="axis" x1="${left}" x2="${width}" y1="8" y2="8"></line><text x="${left - 8}" y="12" text-anchor="end">${most}</text><text x="${left - 8}" y="${height}" text-anchor="end">0</text>
${buckets.map(({ ts, count }, at) => {
  const tall = round((count / most) * (height - 8))
  const x = round(left + at * step)
  return html`<rect class="bar" x="${x}" y="${round(height - tall)}" width="${round(Math.max(1, step - 2))}" height="${tall}"><title>${exact(ts)}: ${count}</title></rect>${at % every === 0 && html`<text x="${x}" y="${height + 16}">${label(ts)}</text>`}`
})}</svg>`
}

interface Lane {
  readonly agent: string
  readonly buckets: readonly number[]
}

/** One lane an agent: the darker, the more it wrote. */
export function lanes(all: readonly Lane[], buckets: readonly Bucket[]): Html {
  const [left, width, tall] = [200, 880, 24]
  const most = Math.max(1, ...all.flatMap(({ buckets: counts }) => counts))
  const step = (width - left) / Math.max(1, buckets.length)
  const times = buckets.map(({ ts }) => exact(ts))
  return html`<svg class="chart" viewBox="0 0 ${width} ${all.length * tall}" role="img" aria-label="Messages of each agent over time">${all.map(
    ({ agent, buckets: counts }, lane) =>
      html`<text class="label" x="0" y="${lane * tall + 16}">${cut(shortAddress(agent), 28)}</text><line class="lane" x1="${left}" x2="${width}" y1="${lane * tall + 12}" y2="${lane * tall + 12}"></line>${counts.map(
        (count, at) =>
          count > 0 &&
          html`<rect class="cell o${Math.ceil((count / most) * 5)}" x="${round(left + at * step)}" y="${lane * tall + 4}" width="${round(Math.max(2, step - 2))}"><title>${agent}, ${times[at] ?? ''}: ${count}</title></rect>`,
      )}`,
  )}</svg>`
}

interface Edge {
  readonly from: string
  readonly to: string
  readonly count: number
}

const mostNodes = 40
const others = 'others'

/** Beyond the busiest agents all are one. */
function gathered(edges: readonly Edge[]): {
  readonly nodes: readonly string[]
  readonly edges: readonly Edge[]
} {
  const weight = new Map<string, number>()
  for (const { from, to, count } of edges)
    for (const name of [from, to]) weight.set(name, (weight.get(name) ?? 0) + count)
  const busiest = [...weight].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, mostNodes)
  const shown = new Set(busiest.map(([name]) => name))
  const called = (name: string) => (shown.has(name) ? name : others)
  const sums = new Map<string, Edge>()
  for (const { from, to, count } of edges) {
    const key = `${called(from)}\n${called(to)}`
    sums.set(key, { from: called(from), to: called(to), count: (sums.get(key)?.count ?? 0) + count })
  }
  // By name: an agent keeps its place when figures change.
  const nodes = [...shown].sort()
  return { nodes: weight.size > mostNodes ? [...nodes, others] : nodes, edges: [...sums.values()] }
}

/** A circle of agents with a line from each to those it writes to: places are stable, the width tells how much. */
export function graph(edges: readonly Edge[], link: (edge: Edge) => string): Html {
  const { nodes, edges: shown } = gathered(edges)
  const radius = Math.min(260, Math.max(90, nodes.length * 13))
  // A label beside the circle has 180 on each side.
  const [width, height] = [radius * 2 + 360, radius * 2 + 56]
  const [cx, cy] = [width / 2, height / 2]
  const most = top(shown)
  const places = new Map(
    nodes.map((name, at) => {
      const angle = (at / nodes.length) * 2 * Math.PI - Math.PI / 2
      return [
        name,
        {
          x: round(cx + radius * Math.cos(angle)),
          y: round(cy + radius * Math.sin(angle)),
          right: Math.cos(angle) >= -0.01,
        },
      ]
    }),
  )
  return html`<svg class="chart graph" width="${width}" viewBox="0 0 ${width} ${height}" role="group" aria-label="Who writes to whom">${shown.map(
    (edge) => {
      const [from, to] = [places.get(edge.from), places.get(edge.to)]
      if (from === undefined || to === undefined || edge.from === edge.to) return undefined
      const path = html`<path class="edge w${Math.ceil((edge.count / most) * 5)}" d="M${from.x} ${from.y}Q${round((from.x + to.x) / 2 + (cx - (from.x + to.x) / 2) * 0.4 + (to.y - from.y) * 0.06)} ${round((from.y + to.y) / 2 + (cy - (from.y + to.y) / 2) * 0.4 - (to.x - from.x) * 0.06)} ${to.x} ${to.y}"></path>`
      const says = html`<title>${edge.from} to ${edge.to}: ${edge.count}</title>`
      if (edge.from === others || edge.to === others) return html`<g>${says}${path}</g>`
      return html`<a href="${link(edge)}">${says}${path}</a>`
    },
  )}${[...places].map(
    ([name, { x, y, right }]) =>
      html`<circle class="node ${tint(name)}" cx="${x}" cy="${y}" r="8"></circle><text class="label" x="${right ? x + 14 : x - 14}" y="${y + 4}" text-anchor="${right ? 'start' : 'end'}">${cut(shortAddress(name), 26)}</text>`,
  )}</svg>`
}

interface Spot {
  readonly id: number
  readonly from: string
  readonly label: string
  readonly replyTo: number | undefined
}

/** A map of a conversation: a lane for each who spoke, a spot for each message, in their order. `called`: by the initials. */
export function conversationMap(spots: readonly Spot[], called: (name: string) => string): Html {
  const speakers = [...new Set(spots.map(({ from }) => from))]
  const [width, left, tall] = [264, 30, 18]
  const step = (width - left - 12) / Math.max(1, spots.length - 1)
  const place = new Map(
    spots.map(({ id, from }, at) => [id, { x: round(left + at * step), y: speakers.indexOf(from) * tall + 10 }]),
  )
  return html`<svg class="chart" viewBox="0 0 ${width} ${speakers.length * tall + 4}" role="group" aria-label="Map of the conversation">${speakers.map(
    (name, lane) =>
      html`<text x="0" y="${lane * tall + 14}">${called(name)}<title>${name}</title></text><line class="lane" x1="${left}" x2="${width}" y1="${lane * tall + 10}" y2="${lane * tall + 10}"></line>`,
  )}${spots.map(({ id, from, label, replyTo }) => {
    const here = place.get(id)
    const before = replyTo === undefined ? undefined : place.get(replyTo)
    return (
      here &&
      html`${before && html`<line class="edge w1" x1="${before.x}" y1="${before.y}" x2="${here.x}" y2="${here.y}"></line>`}<a href="#m-${id}" aria-label="${from}: ${label}"><circle class="spot ${tint(from)}" cx="${here.x}" cy="${here.y}" r="5"><title>${from}: ${label}</title></circle></a>`
    )
  })}</svg>`
}
