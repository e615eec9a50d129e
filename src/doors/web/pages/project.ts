/** `/mail/{project}`: who works in it and on what, its newest threads, its leases, and the search in it. */
import { z } from 'zod'
import { readBoard } from '../../../core/pages/board.ts'
import { listWorkers, type Overview, overviewProject } from '../../../core/pages/projects.ts'
import { type Html, html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { boardTable, toBoardAgent } from '../parts/board.ts'
import { sparkline } from '../parts/charts.ts'
import { connectLines, empty } from '../parts/empty.ts'
import { leaseTable } from '../parts/leases.ts'
import { pathShown, projectBadge, slugShown } from '../parts/people.ts'
import { projectHead } from '../parts/project-head.ts'
import { rows } from '../parts/rows.ts'
import { searchForm } from '../parts/search-form.ts'
import { sealedThreads, threadRow } from '../parts/thread-row.ts'
import { longTime } from '../parts/times.ts'
import { toAgent, toProject, toThread } from '../shapes.ts'
import { at } from '../site.ts'

export const page = definePage({
  query: z.object({}),
  async load({ hub, caller, mark }, _query, params) {
    const [overview, board] = await Promise.all([
      overviewProject(hub, caller, part(params, 'project')),
      readBoard(hub, caller, { project: part(params, 'project'), mark }),
    ])
    return { ...overview, board }
  },
  json: async ({ data: { project, threads, counts, board }, visit: { hub, caller } }) => ({
    board: board.agents.map(toBoardAgent),
    project: toProject(project),
    agents: (await listWorkers(hub, caller, project.slug)).map(toAgent),
    threads: threads.map((thread) => toThread(project.slug, thread)),
    siblings: project.siblings,
    counts,
  }),
  view: ({ data, visit }) => {
    const { project, board, threads, leases } = data
    const { slug, siblings } = project
    return {
      title: slug,
      project: slug,
      up: '/mail/projects',
      watch: { project: slug },
      main: html`${projectHead(visit, { project: slug, title: slugShown(slug), tab: 'overview' })}
<p class="facts-line"><span class="mono">${pathShown(project.key)}</span><span>created ${longTime(visit, project.createdAt)}</span>${siblings.length > 0 && html`<span>with ${siblings.map(projectBadge)}</span>`}</p>
<section class="section">${searchForm({ project: slug })}</section>
<section class="section"><div class="head"><h2>Agents</h2>${figures(data)}</div>
${board.agents.length === 0 ? connectLines(visit) : boardTable(visit, board.agents, { home: slug })}</section>
<section class="section"><div class="head"><h2>Newest threads</h2><a href="${at(slug, 'threads')}">All threads</a></div>
${threads.length === 0 ? empty('No thread yet', 'The first message between two agents begins one.') : rows(sealedThreads(threads).map((thread) => threadRow(visit, slug, thread)))}</section>
<section class="section"><div class="head"><h2>File reservations</h2><a href="${at(slug, 'file_reservations')}">All reservations</a></div>
${leases.length === 0 ? html`<p class="soft">Nobody holds a file right now.</p>` : leaseTable(visit, slug, leases)}</section>`,
    }
  },
})

const behindWords = (agents: number): string =>
  agents === 1 ? '1 agent has unread mail' : `${agents} agents have unread mail`

const figures = ({ counts, project, hours }: Overview): Html =>
  html`<a class="facts-line" href="${at(project.slug, 'activity')}" title="Messages of the last day">${sparkline(hours)}<span>${counts.messages} ${counts.messages === 1 ? 'message' : 'messages'}</span>${project.behind > 0 && html`<span>${behindWords(project.behind)}</span>`}</a>`
