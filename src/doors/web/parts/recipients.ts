/** The recipients of the composer: groups, a filter, and the agents that fit it; the chosen ones always stay. */
import { slugName } from '../../../base/names.ts'
import type { listAddressable } from '../../../core/pages/overseer.ts'
import type { listGroups } from '../../../core/pages/overseer-groups.ts'
import { type Html, html } from '../html.ts'
import { urlWith, type Visit } from '../site.ts'
import { faultText, typedIn } from './fields.ts'
import { disc } from './people.ts'

export interface Addressees {
  /** The project of the page. */
  readonly slug: string | undefined
  readonly projects: Awaited<ReturnType<typeof listAddressable>>
  readonly groups: Awaited<ReturnType<typeof listGroups>>
}

/** 2,000 agents made 10,283 nodes: beyond these the filter finds them. */
const mostShown = 100
const fewAgents = 12

/** A name alone means this project; in the composer of all projects each has its own. */
export function recipients(visit: Visit, { slug, projects, groups }: Addressees): Html {
  const { typed, query } = visit
  const chosen = new Set(
    typed ? typed.fields.getAll('recipients') : (query.get('to') ?? '').split(',').map((name) => name.trim()),
  )
  const all = query.get('select') === 'all'
  const wanted = typedIn(visit, 'q').trim().toLowerCase()
  const total = projects.reduce((sum, { agents }) => sum + agents.length, 0)
  let room = mostShown
  const shown = projects.map(({ project, agents }) => {
    const boxes = agents.flatMap((agent) => {
      const value = project === slug ? agent.name : `${agent.name}@${project}`
      const on = chosen.has(value) || (project === slug && chosen.has(`${agent.name}@${project}`))
      const fits = wanted === '' || `${agent.name} ${agent.task} ${project}`.toLowerCase().includes(wanted)
      if (!on && (!fits || --room < 0)) return []
      return [{ ...agent, value, on: on || all }]
    })
    return { project, boxes }
  })
  const whole = room >= 0
  return html`<fieldset class="field" id="recipients"><legend>To</legend><p class="ways small">${whole && total > 1 && html`<a href="${urlWith(visit, { select: 'all' })}" data-select="all">Select all</a>`}<a href="${urlWith(visit, { select: undefined, to: undefined })}" data-select="none">Clear</a></p>${faultText(visit, 'recipients')}
${groups.length > 0 && html`<div class="groups">${groups.map(({ called, count }) => check(called, groupName(called), count, chosen.has(called)))}</div>`}
${total > fewAgents && html`<p class="ways finding"><label class="visually-hidden" for="q">Filter the agents</label><input id="q" type="search" name="q" value="${typedIn(visit, 'q')}" placeholder="Filter ${total} agents by name, task or project" autocomplete="off" data-recipients><button name="action" value="filter" formnovalidate>Filter</button></p>`}
<div id="recipients-found">${shown.map(
    ({ project, boxes }) =>
      boxes.length > 0 &&
      html`${slug === undefined && html`<div class="head"><h2>${slugName(project)}</h2>${check(`all:project@${project}`, `Everybody in ${slugName(project)}`, undefined, chosen.has(`all:project@${project}`))}</div>`}<div class="grid">${boxes.map(
        ({ name, task, activeAt, value, on }) =>
          html`<label title="${name}"><input type="checkbox" name="recipients" value="${value}"${on && html` checked`}>${disc(visit, { name, project })}<span>${name}</span>${activeAt === 0 && html`<span class="badge" title="Nobody has answered to this name yet">never active</span>`}<span class="task" title="${task}">${task}</span></label>`,
      )}</div>`,
  )}${!whole && html`<p class="hint">${mostShown} of ${total} agents: filter to find the others.</p>`}${shown.every(({ boxes }) => boxes.length === 0) && html`<p class="hint">No agent has this in its name, task or project.</p>`}</div></fieldset>`
}

const groupName = (called: string): string =>
  called === 'all:stuck' ? 'All who are stuck' : called === 'all:project' ? 'Everybody' : called.slice('role:'.length)

const check = (value: string, label: string, count: number | undefined, on: boolean): Html =>
  html`<label class="pill"><input type="checkbox" name="recipients" value="${value}"${on && html` checked`}>${label}${count !== undefined && html` <span class="soft">${count}</span>`}</label>`
