/** `/mail`: what needs a person, the board of agents, the newest mail of all projects, the projects, and suggestions of related ones. */
import { z } from 'zod'
import { readBoard } from '../../../core/pages/board.ts'
import { readNeeds } from '../../../core/pages/needs.ts'
import { listPageProjects } from '../../../core/pages/projects.ts'
import { listSuggestions } from '../../../core/pages/related.ts'
import { listAllMail } from '../../../core/pages/unified-inbox.ts'
import { type Html, html } from '../html.ts'
import { definePage } from '../page.ts'
import { boardTable, toBoardAgent } from '../parts/board.ts'
import { connectLines, empty } from '../parts/empty.ts'
import { needsList } from '../parts/needs.ts'
import { pager } from '../parts/pager.ts'
import { sendButton } from '../parts/project-head.ts'
import { projectTable, suggestionList } from '../parts/projects.ts'
import { row, rows, sealedAsOne, sinceLine } from '../parts/rows.ts'
import { flag, importance, limit, place, text } from '../query.ts'
import { nextUrl, toMessage, toProject } from '../shapes.ts'
import { urlWith, type Visit } from '../site.ts'

const query = z.object({ project: text, from: text, importance, unread: flag, before: place, after: place, limit })

/** On Home; all of them are on a page of their own. */
const [boardRows, mostNeeds] = [20, 5]

export const page = definePage({
  query,
  async load({ hub, caller, mark }, wish) {
    const [board, mail, projects, suggestions, needs] = await Promise.all([
      readBoard(hub, caller, { mark }),
      listAllMail(hub, caller, wish),
      listPageProjects(hub, caller, { limit: 200 }),
      listSuggestions(hub, caller),
      readNeeds(hub, caller, { mark, mostDebtors: mostNeeds }),
    ])
    return { mail, projects: projects.items, suggestions, needs, board }
  },
  json: ({ data: { mail, projects, suggestions, board }, visit }) => ({
    agents: board.agents.slice(0, boardRows).map(toBoardAgent),
    messages: mail.items.map(toMessage),
    projects: projects.map(toProject),
    suggestions: suggestions.map(({ a, b, percent, reason }) => ({ projects: [a.slug, b.slug], percent, reason })),
    next: nextUrl(visit, mail.next),
  }),
  view: ({ data: { mail, projects, suggestions, needs, board }, visit, query: wish }) => {
    const worked = projects.filter(({ agents, messages }) => agents + messages > 0)
    const agents = projects.reduce((sum, project) => sum + project.agents, 0)
    const firstPage = wish.before === undefined && wish.after === undefined
    return {
      title: 'Home',
      here: 'home',
      watch: { project: wish.project },
      main: html`<div class="head"><h1>Home</h1><div class="acts">${agents > 0 && sendButton(visit, {})}</div></div>
${
  agents > 0 &&
  firstPage &&
  html`<section class="section first"><h2>Needs you</h2>${needsList(visit, needs, mostNeeds)}</section>
<section class="section"><div class="head"><h2>Agents</h2>${board.agents.length > boardRows && html`<a href="/mail/agents">All agents</a>`}</div>${boardTable(visit, board.agents.slice(0, boardRows))}</section>
<section class="section"><h2>Messages</h2>`
}
${agents > 0 && filters(visit, wish)}
${
  mail.items.length > 0
    ? html`${!firstPage && html`<h2 class="visually-hidden">Messages</h2>`}${rows(sinceLine(visit, sealedAsOne(mail.items), (message) => row(visit, message, { count: message.count })))}${pager(
        {
          older: nextUrl(visit, mail.next),
          newer: nextUrl(visit, mail.prev, 'after'),
        },
      )}`
    : agents === 0
      ? connectLines(visit)
      : empty(
          'No message here',
          'Agents have written nothing that fits. Take a filter away, or wait: the page changes by itself.',
        )
}
${agents > 0 && firstPage && html`</section>`}
${(suggestions.length > 0 || decided(visit)) && html`<section class="section" id="related"><h2>Related projects?</h2>${suggestions.length > 0 ? suggestionList(visit, suggestions) : html`<p class="hint">No other projects look related.</p>`}</section>`}
${worked.length > 0 && html`<section class="section"><h2>Projects</h2>${projectTable(visit, worked)}</section>`}`,
    }
  },
})

/** After the last suggestion there is still the place where it was. */
const decided = ({ query }: Visit): boolean => ['confirmed', 'dismissed'].includes(query.get('done') ?? '')

function filters(visit: Visit, { project, from, importance, unread }: z.output<typeof query>): Html {
  const one = (name: string, value: string, says: string, on: boolean) =>
    html`<a class="pill" href="${urlWith(visit, { before: undefined, after: undefined, done: undefined, [name]: on ? undefined : value })}"${on && html` aria-current="true"`}>${says}${on && html` <span aria-hidden="true">×</span>`}</a>`
  return html`<div class="filters">${one('unread', '1', 'Unread by agents', unread === true)}${one('importance', 'urgent', 'Urgent', importance === 'urgent')}${one('importance', 'high', 'High', importance === 'high')}${
    project !== undefined && one('project', project, `In ${project}`, true)
  }${from !== undefined && one('from', from, `From ${from}`, true)}</div>`
}
