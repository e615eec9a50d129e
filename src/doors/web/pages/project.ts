/** `/mail/{project}`: who works in it and on what, its newest threads, its leases, and the search in it. */
import { z } from 'zod'
import { type Overview, overviewProject } from '../../../core/pages/projects.ts'
import { type Html, html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { sparkline } from '../parts/charts.ts'
import { connectLines, empty } from '../parts/empty.ts'
import { leaseTable } from '../parts/leases.ts'
import { agentLink, disc, projectBadge, slugShown } from '../parts/people.ts'
import { projectHead } from '../parts/project-head.ts'
import { rows } from '../parts/rows.ts'
import { searchForm } from '../parts/search-form.ts'
import { threadRow } from '../parts/thread-row.ts'
import { longTime, shortTime } from '../parts/times.ts'
import { toAgent, toProject, toThread } from '../shapes.ts'
import { at, type Visit } from '../site.ts'

export const page = definePage({
  query: z.object({}),
  load: ({ hub, caller }, _query, params) => overviewProject(hub, caller, part(params, 'project')),
  json: ({ data: { project, agents, threads, counts } }) => ({
    project: toProject(project),
    agents: agents.map(toAgent),
    threads: threads.map((thread) => toThread(project.slug, thread)),
    siblings: project.siblings,
    counts,
  }),
  view: ({ data, visit }) => {
    const { project, agents, threads, leases } = data
    const { slug, siblings } = project
    return {
      title: slug,
      project: slug,
      up: '/mail/projects',
      watch: { project: slug },
      main: html`${projectHead(visit, { project: slug, title: slugShown(slug), tab: 'overview' })}
<p class="facts-line"><span class="mono">${project.key}</span><span>created ${longTime(visit, project.createdAt)}</span>${siblings.length > 0 && html`<span>with ${siblings.map(projectBadge)}</span>`}</p>
<section class="section">${searchForm({ project: slug })}</section>
<section class="section"><div class="head"><h2>Agents</h2>${figures(data)}</div>
${agents.length === 0 ? connectLines(visit) : html`<ul class="people">${agents.map((agent) => agentLine(visit, agent))}</ul>`}</section>
<section class="section"><div class="head"><h2>Newest threads</h2><a href="${at(slug, 'threads')}">All threads</a></div>
${threads.length === 0 ? empty('No thread yet', 'The first message between two agents begins one.') : rows(threads.map((thread) => threadRow(visit, slug, thread)))}</section>
<section class="section"><div class="head"><h2>File reservations</h2><a href="${at(slug, 'file_reservations')}">All reservations</a></div>
${leases.length === 0 ? html`<p class="soft">Nobody holds a file right now.</p>` : leaseTable(visit, slug, leases)}</section>`,
    }
  },
})

const figures = ({ counts, project, hours }: Overview): Html =>
  html`<a class="facts-line" href="${at(project.slug, 'activity')}" title="Messages of the last day">${sparkline(hours)}<span>${counts.messages} messages, ${counts.unread} unread</span></a>`

function agentLine(visit: Visit, agent: Overview['agents'][number]): Html {
  const { name, task, program, model, activeAt, waiting, unread, leases, project } = agent
  return html`<li data-row>${disc(name)}<span>${agentLink({ name, project }, project)}</span>
<span class="task" title="${task}" dir="auto">${task || html`<span class="soft">no task told</span>`}</span>
<span class="facts"><span>${program} · ${model}</span><span>${leases > 0 && `${leases} ${leases === 1 ? 'lease' : 'leases'}`}</span><span class="wants">${unread > 0 && `${unread} unread`}</span>${
    waiting
      ? html`<span class="state good">waiting now</span>`
      : html`<span class="state">${activeAt === 0 ? 'never active' : shortTime(visit, activeAt)}</span>`
  }</span></li>`
}
