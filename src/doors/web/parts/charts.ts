/** Charts as SVG made on the server: figures come as attributes and classes, never as styles. */
import type { Disc } from '../../../core/pages/initials.ts'
import { type Html, html } from '../html.ts'

export interface Bucket {
  readonly ts: number
  readonly count: number
}

export const top = (buckets: readonly { readonly count: number }[]): number =>
  Math.max(1, ...buckets.map(({ count }) => count))

export const round = (value: number): number => Math.round(value * 100) / 100

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

interface Spot {
  readonly id: number
  readonly from: string
  readonly label: string
  readonly replyTo: number | undefined
}

/** A map of a conversation: a lane for each who spoke, a spot for each message, in their order. */
export function conversationMap(spots: readonly Spot[], discOf: (name: string) => Disc): Html {
  const speakers = [...new Set(spots.map(({ from }) => from))]
  const [width, left, tall] = [264, 30, 18]
  const step = (width - left - 12) / Math.max(1, spots.length - 1)
  const place = new Map(
    spots.map(({ id, from }, at) => [id, { x: round(left + at * step), y: speakers.indexOf(from) * tall + 10 }]),
  )
  return html`<svg class="chart" viewBox="0 0 ${width} ${speakers.length * tall + 4}" role="group" aria-label="Map of the conversation">${speakers.map(
    (name, lane) =>
      html`<text x="0" y="${lane * tall + 14}">${discOf(name).initials}<title>${name}</title></text><line class="lane" x1="${left}" x2="${width}" y1="${lane * tall + 10}" y2="${lane * tall + 10}"></line>`,
  )}${spots.map(({ id, from, label, replyTo }) => {
    const here = place.get(id)
    const before = replyTo === undefined ? undefined : place.get(replyTo)
    return (
      here &&
      html`${before && html`<line class="edge w1" x1="${before.x}" y1="${before.y}" x2="${here.x}" y2="${here.y}"></line>`}<a href="#m-${id}" aria-label="${from}: ${label}"><circle class="spot ${discOf(from).hue}" cx="${here.x}" cy="${here.y}" r="5"><title>${from}: ${label}</title></circle></a>`
    )
  })}</svg>`
}
