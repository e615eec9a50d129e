/** The board of agents as a table, in order of need, with one legend of the states. */
import type { BoardAgent, BoardState, Hold } from '../../../core/pages/board.ts'
import { iso, isoOrNull } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { addressIn } from '../shapes.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { called, clientOf, disc, inboxOf, pathShown, projectBadge } from './people.ts'
import { ageTime, longTime } from './times.ts'

/** Each has a shape of its own: a state is not told by its colour alone. */
const meanings: Readonly<Record<BoardState, string>> = {
  stuck: 'others wait for it, and it is silent',
  blocked: 'waits for one that is stuck',
  waiting: 'a call of it waits for mail now',
  working: 'seen within five minutes',
  idle: 'can be woken, or seen within the hour',
  away: 'not seen for longer',
}

const stateMark = (state: BoardState): Html => html`<span class="state is-${state}">${state}</span>`

const legend: Html = html`<dl class="legend">${Object.entries(meanings).map(
  ([state, says]) => html`<div><dt>${stateMark(state as BoardState)}</dt><dd>${says}</dd></div>`,
)}</dl>`

export interface BoardOptions {
  /** The project of the page, which is not repeated in each row. */
  readonly home?: string | undefined
}

export function boardTable(visit: Visit, agents: readonly BoardAgent[], { home }: BoardOptions = {}): Html {
  return html`<div class="scrolls"><table class="table board"><thead><tr><th>State</th><th>Agent</th>${home === undefined && html`<th>Project</th>`}<th>Doing</th><th>Unread</th><th>Leases</th><th>Last seen</th></tr></thead>
<tbody>${agents.map((agent) => boardRow(visit, agent, home))}</tbody></table></div>
${legend}`
}

function boardRow(visit: Visit, agent: BoardAgent, home: string | undefined): Html {
  const { name, project, state, task, unread, oldestUnread, leases, seenAt, reach } = agent
  const client = clientOf(agent)
  return html`<tr id="a-${agent.id}"><td class="short">${stateMark(state)}</td><td class="who"><span class="facts-line">${disc(visit, agent)}<span><a class="agent subject" href="${inboxOf(agent)}" title="${name}"><bdi>${name}</bdi></a>${client !== '' && html`<span class="client" title="${client}">${client}</span>`}</span></span></td>${home === undefined && html`<td class="short">${projectBadge(project)}</td>`}
<td class="doing" dir="auto">${why(visit, agent)}${task === '' ? html`<span class="soft">no task told</span>` : html`<span class="task">${pathShown(task)}</span>`}</td>
<td class="short${state === 'stuck' && ' wants'}"${unread > 0 && html` data-label="unread"`}>${unread > 0 && html`${unread}${oldestUnread !== undefined && html` <span class="soft">oldest ${ageTime(visit, oldestUnread)}</span>`}`}</td>
<td class="short"${leases > 0 && html` data-label="leases"`}>${leases > 0 && html`<a href="${withQuery(at(project, 'file_reservations'), { state: 'active', agent: name })}">${leases}<span class="visually-hidden"> leases of ${name}</span></a>`}</td>
<td class="short" data-label="seen">${seenAt === 0 ? html`<span class="soft">never</span>` : longTime(visit, seenAt)}${reach !== undefined && html`<span class="reach">${reachText(reach, unread)}</span>`}</td></tr>`
}

/** How mail gets to it now; the state and the time beside it say the rest. */
function reachText({ state, via }: NonNullable<BoardAgent['reach']>, unread: number): string | false {
  if (state === 'waiting') return 'gets mail at once'
  if (state === 'wakeable') return `mail wakes it (${via})`
  if (state === 'next_turn') return `told at its next turn (${via})`
  // Told where mail lies there.
  return state !== 'active' && unread > 0 && 'nothing wakes it'
}

/** The reason of a state, in front of the task. */
function why(visit: Visit, { state, holds, blockedBy, project }: BoardAgent): Html | false {
  const told = state === 'stuck' ? holds : state === 'blocked' ? blockedBy : []
  if (told.length === 0) return false
  const most = 2
  return html`<span class="why">${told.slice(0, most).map((hold, place) => html`${place > 0 && '; '}${holdText(visit, hold, project, state === 'stuck')}`)}${told.length > most && html` and ${told.length - most} more`}</span>`
}

function holdText(visit: Visit, hold: Hold, project: string, holder: boolean): Html {
  const other = html`<b><bdi>${called(hold.other, project)}</bdi></b>`
  if (hold.kind === 'lease')
    return holder
      ? html`holds <code>${pathShown(hold.pattern)}</code> against ${other}`
      : html`wants <code>${pathShown(hold.pattern)}</code>, held by ${other}`
  if (hold.kind === 'ack')
    return holder
      ? html`owes ${other} an acknowledgement for ${ageTime(visit, hold.since)}`
      : html`waits for an acknowledgement of ${other} for ${ageTime(visit, hold.since)}`
  return holder
    ? html`has not read mail of ${other} for ${ageTime(visit, hold.since)}`
    : html`waits for an answer of ${other} for ${ageTime(visit, hold.since)}`
}

/** For programs. */
export function toBoardAgent(agent: BoardAgent) {
  const address = addressIn(agent.project)
  const hold = (one: Hold) => ({
    kind: one.kind,
    agent: address(one.other),
    ...(one.kind === 'lease' ? { path_pattern: one.pattern } : { since: iso(one.since) }),
  })
  return {
    name: agent.name,
    project: agent.project,
    state: agent.state,
    program: agent.program,
    model: agent.model,
    task_description: agent.task,
    unread_count: agent.unread,
    oldest_unread_ts: isoOrNull(agent.oldestUnread),
    leases: agent.leases,
    holds: agent.holds.map(hold),
    blocked_by: agent.blockedBy.map(hold),
    reach: agent.reach?.state ?? null,
    wakes_by: agent.reach?.state === 'wakeable' ? (agent.reach.via ?? null) : null,
    last_seen_ts: agent.seenAt === 0 ? null : iso(agent.seenAt),
  }
}
