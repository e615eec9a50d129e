/** Leases as a table: who holds what, how, why, and until when. */
import type { PageLease } from '../../../core/pages/leases.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { asked, askFirst, form, letBe } from './need-line.ts'
import { agentLink, disc, pathShown } from './people.ts'
import { longTime, untilTime } from './times.ts'

const looks = { active: 'good', released: '', expired: '' } as const

export function leaseTable(visit: Visit, project: string, leases: readonly PageLease[], { forms = false } = {}): Html {
  const acts = forms && visit.steers
  return html`<div class="scrolls"><table class="table"><thead><tr><th>Pattern</th><th>Holder</th><th>Kind</th><th>Reason</th><th>Since</th><th>Until</th><th>State</th>${acts && html`<th><span class="visually-hidden">Release</span></th>`}</tr></thead>
<tbody>${grouped(leases).map(({ lease, others }) => {
    const { id, agent, holderSeenAt, pattern, exclusive, reason, createdAt, expiresAt, releasedAt, state, conflicts } =
      lease
    return html`<tr id="lease-${id}"${conflicts.length > 0 && html` class="pair"`} data-row><td class="path mono" title="${pattern}">${pathShown(pattern)}${conflicts.length > 0 && html`<div class="small"><span class="badge overdue">conflict</span>${others.length > 0 && ' with '}${others.map((other, at) => html`${at > 0 && ', '}<a href="#lease-${other.id}">${other.agent} ${pathShown(other.pattern)}</a>`)}</div>`}</td>
<td><span class="facts-line">${disc(visit, { name: agent, project })}<span>${agentLink({ name: agent, project }, project)}${state === 'active' && html`<span class="client">${holderSeenAt === 0 ? 'never seen' : html`seen ${longTime(visit, holderSeenAt)}`}</span>`}</span></span></td><td class="short">${exclusive ? 'exclusive' : 'shared'}</td><td dir="auto">${pathShown(reason)}</td><td class="short" data-label="since">${longTime(visit, createdAt)}</td>
<td class="short" data-label="until">${state === 'active' ? untilTime(visit, expiresAt) : longTime(visit, releasedAt ?? expiresAt)}</td><td class="short"><span class="state ${looks[state]}">${state}</span></td>${
      acts && html`<td>${state === 'active' && release(visit, project, lease)}</td>`
    }</tr>`
  })}</tbody></table></div>`
}

interface Grouped {
  readonly lease: PageLease
  /** In its way, and not told on a line above. */
  readonly others: PageLease['conflicts']
}

/** Leases in each other's way stand together, where the first of them stands; that one says which are in its way. */
function grouped(leases: readonly PageLease[]): readonly Grouped[] {
  const left = new Map(leases.map((lease) => [lease.id, lease]))
  const told = new Set<number>()
  const gather = (id: number): readonly Grouped[] => {
    const lease = left.get(id)
    if (lease === undefined) return []
    left.delete(id)
    const others = lease.conflicts.filter((other) => !told.has(other.id))
    for (const one of [lease, ...others]) told.add(one.id)
    return [{ lease, others }, ...lease.conflicts.flatMap((other) => gather(other.id))]
  }
  return leases.flatMap(({ id }) => gather(id))
}

/** The lease is taken from its holder for good: that is asked once. */
function release(visit: Visit, project: string, { id, agent, pattern }: PageLease): Html {
  const row = `lease-${id}`
  if (!asked(visit, row))
    return askFirst(visit, row, html`Release<span class="visually-hidden"> ${pattern} of ${agent}</span>`, row)
  return html`<div class="asking"><p><b>${agent}</b> is told.</p>${form(visit, at(project, 'file_reservations'), html`<button class="primary small" name="release" value="${id}">Release now</button>`)}${letBe(visit, row, 'Keep it', row)}</div>`
}
