/** Leases as a table: who holds what, how, why, and until when. */
import type { PageLease } from '../../../core/pages/leases.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { at, type Visit } from '../site.ts'
import { agentLink, disc, pathShown } from './people.ts'
import { longTime, untilTime } from './times.ts'

const looks = { active: 'good', released: '', expired: '' } as const

export function leaseTable(visit: Visit, project: string, leases: readonly PageLease[], { forms = false } = {}): Html {
  const acts = forms && visit.steers
  return html`<div class="scrolls"><table class="table"><thead><tr><th>Pattern</th><th>Holder</th><th>Kind</th><th>Reason</th><th>Since</th><th>Until</th><th>State</th>${acts && html`<th><span class="visually-hidden">Release</span></th>`}</tr></thead>
<tbody>${leases.map((lease) => {
    const { id, agent, pattern, exclusive, reason, createdAt, expiresAt, releasedAt, state, conflicts } = lease
    return html`<tr id="lease-${id}" data-row><td class="path mono" title="${pattern}">${pathShown(pattern)}${conflicts.length > 0 && html`<div class="small"><span class="badge overdue">conflict</span> with ${conflicts.map((other, at) => html`${at > 0 && ', '}<a href="#lease-${other.id}">${other.agent} ${pathShown(other.pattern)}</a>`)}</div>`}</td>
<td><span class="facts-line">${disc(visit, { name: agent, project })}${agentLink({ name: agent, project }, project)}</span></td><td class="short">${exclusive ? 'exclusive' : 'shared'}</td><td dir="auto">${pathShown(reason)}</td><td class="short" data-label="since">${longTime(visit, createdAt)}</td>
<td class="short" data-label="until">${state === 'active' ? untilTime(visit, expiresAt) : longTime(visit, releasedAt ?? expiresAt)}</td><td class="short"><span class="state ${looks[state]}">${state}</span></td>${
      acts &&
      html`<td>${state === 'active' && html`<form method="post" action="${at(project, 'file_reservations')}">${proof(visit.csrf)}<button class="quiet" name="release" value="${id}" aria-label="Release ${pattern} of ${agent}">Release</button></form>`}</td>`
    }</tr>`
  })}</tbody></table></div>`
}
