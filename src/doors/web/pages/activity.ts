/** `/mail/{project}/activity`: messages over time, a lane an agent, and who writes to whom. */
import { z } from 'zod'
import { type Activity, readActivity } from '../../../core/pages/activity.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { iso } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { whoToWhom } from '../parts/graph.ts'
import { tint } from '../parts/people.ts'
import { projectHead } from '../parts/project-head.ts'
import { timeline } from '../parts/timeline.ts'
import { exact } from '../parts/times.ts'
import { oneOf } from '../query.ts'
import { at, urlWith, type Visit, withQuery } from '../site.ts'

const windows = { '1h': 'Hour', '24h': 'Day', '7d': 'Week', '30d': 'Month' } as const

export const page = definePage({
  query: z.object({ window: oneOf(['1h', '24h', '7d', '30d']).default('24h') }),
  async load({ hub, caller, mark }, { window }, params) {
    const { slug } = await needProject(hub, caller, part(params, 'project'))
    return { slug, activity: await readActivity(hub, caller, slug, { window, mark }) }
  },
  json: ({ data: { activity } }) => ({
    since: iso(activity.since),
    until: iso(activity.until),
    buckets: activity.buckets.map(({ ts, count }) => ({ ts: iso(ts), count })),
    edges: activity.edges,
  }),
  view: ({ data: { slug, activity }, query: { window }, visit }) => ({
    title: `Activity of ${slug}`,
    project: slug,
    up: at(slug),
    watch: { project: slug },
    main: html`${projectHead(visit, { project: slug, title: 'Activity', tab: 'activity' })}
<div class="filters">${Object.entries(windows).map(
      ([name, says]) =>
        html`<a class="pill" href="${urlWith(visit, { window: name })}"${name === window && html` aria-current="true"`}>${says}</a>`,
    )}</div>
${activity.buckets.every(({ count }) => count === 0) && activity.edges.length === 0 ? empty('Quiet', 'Nobody wrote in this time. Choose a longer one.') : charts(visit, slug, activity)}`,
  }),
})

function charts(visit: Visit, slug: string, activity: Activity): Html {
  const { buckets, edges } = activity
  const find = ({ from, to }: { from: string; to: string }) =>
    withQuery(at(slug, 'search'), { from, to, since: iso(activity.since), order: 'time' })
  const hueOf = (address: string): string => {
    const [name = '', project = slug] = address.split('@')
    return tint(visit, { name, project })
  }
  return html`<section class="figure"><h2>Messages</h2>${timeline(visit, { ...activity, project: slug })}</section>
${edges.length > 0 && html`<section class="figure"><h2>Who writes to whom</h2>${whoToWhom(edges, { link: find, hueOf })}</section>`}
<details class="section"><summary>The same as tables</summary><div class="two"><table><thead><tr><th>Since</th><th class="number">Messages</th></tr></thead><tbody>${buckets.map(({ ts, count }) => html`<tr><td>${exact(visit, ts)}</td><td class="number">${count}</td></tr>`)}</tbody></table>
<table><thead><tr><th>From</th><th>To</th><th class="number">Messages</th></tr></thead><tbody>${edges.map((edge) => html`<tr><td>${edge.from}</td><td>${edge.to}</td><td class="number"><a href="${find(edge)}">${edge.count}</a></td></tr>`)}</tbody></table></div></details>`
}
