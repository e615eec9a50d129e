/** The list of what needs a person: each line says what it is, and acts in place. Works without scripts. */
import { overseer } from '../../../base/names.ts'
import type { BoardAgent } from '../../../core/pages/board.ts'
import type { Conflict, Debtor, Needs } from '../../../core/pages/needs.ts'
import type { PageMessage } from '../../../core/pages/page-message.ts'
import { plainly } from '../../../fulltext/plain.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { addressIn } from '../shapes.ts'
import { at, urlWith, type Visit, withQuery } from '../site.ts'
import { icon } from './icons.ts'
import { agentLink, called, disc, type Named, pathShown, projectBadge, subjectShown } from './people.ts'
import { messageUrl, threadUrl } from './rows.ts'
import { ageTime, longTime, shortTime } from './times.ts'

/** At most so many lines; undefined for all. */
export function needsList(visit: Visit, needs: Needs, most?: number): Html {
  if (needs.count === 0)
    return html`<div class="calm">${icon(visit, 'check')}<div><h3>Nothing needs you</h3><p>No agent is stuck, nobody asks, and every acknowledgement came in time.</p></div></div>`
  const lines = [
    ...needs.answers.map((message) => answer(visit, message)),
    ...needs.conflicts.map((pair) => conflict(visit, pair)),
    ...needs.contacts.map((contact) => request(visit, contact)),
    ...needs.debtors.map((debtor) => debt(visit, debtor)),
    ...needs.stuck.map((agent) => silent(visit, agent)),
  ]
  return html`<ul class="needs">${lines.slice(0, most)}</ul>${lines.length > (most ?? lines.length) && html`<p class="all"><a href="/mail/attention">All ${lines.length} that need you</a></p>`}`
}

interface Line {
  readonly id: string
  readonly kind: string
  readonly who: Named
  readonly says: Html
  readonly more?: Html | undefined | false
  readonly acts: Html | undefined | false
  readonly when: Html | undefined | false
}

const line = (visit: Visit, { id, kind, who, says, more, acts, when }: Line): Html =>
  html`<li class="need" id="need-${id}">${disc(visit, who)}<div class="says"><p dir="auto"><span class="badge">${kind}</span> ${says}</p>${more && html`<p class="soft">${more}</p>`}</div><span class="when">${when}</span><div class="acts">${acts}</div></li>`

/** A form that leads back to this page. */
const form = (visit: Visit, action: string, fields: Html): Html =>
  html`<form method="post" action="${action}">${proof(visit.csrf)}<input type="hidden" name="next" value="${urlWith(visit, { confirm: undefined, done: undefined })}">${fields}</form>`

const write = (visit: Visit, { name, project }: Named): Html | false =>
  visit.steers &&
  html`<a class="button small" href="${withQuery(at(project, 'overseer', 'compose'), { to: name })}">Write<span class="visually-hidden"> to ${name}</span></a>`

const answer = (visit: Visit, message: PageMessage): Html =>
  line(visit, {
    id: `answer-${message.id}`,
    kind: 'answer',
    who: message.from,
    says: html`<b>${agentLink(message.from, message.project)}</b> wrote to you: <a class="subject" href="${withQuery(threadUrl(message), { at: message.id })}#m-${message.id}">${pathShown(subjectShown(message.subject))}</a> ${projectBadge(message.project)}`,
    more: message.excerpt !== '' && html`${pathShown(plainly(message.excerpt))}`,
    when: shortTime(visit, message.createdAt),
    acts:
      visit.steers &&
      html`<a class="button small" href="${threadUrl(message)}#reply">Reply<span class="visually-hidden"> to ${message.from.name}</span></a>${form(visit, at(message.project, 'inbox', overseer), html`<button class="quiet" data-read name="read" value="${message.id}" aria-label="Mark read: ${message.subject}">Mark read</button>`)}`,
  })

function request(visit: Visit, { id, from, to, reason, createdAt }: Needs['contacts'][number]): Html {
  const address = addressIn(to.project)
  const fields = html`<input type="hidden" name="from" value="${address(from)}"><input type="hidden" name="to" value="${to.name}">`
  return line(visit, {
    id: `contact-${id}`,
    kind: 'contact',
    who: from,
    says: html`<b>${agentLink(from, to.project)}</b> asks to write to <b>${agentLink(to, to.project)}</b> ${projectBadge(to.project)}`,
    more: reason !== '' && html`${pathShown(reason)}`,
    when: shortTime(visit, createdAt),
    acts:
      visit.steers &&
      form(
        visit,
        at(to.project, 'contacts'),
        html`${fields}<button class="quiet" name="decision" value="approve" aria-label="Approve ${from.name} to ${to.name}">Approve</button> <button class="quiet" name="decision" value="deny" aria-label="Deny ${from.name} to ${to.name}">Deny</button>`,
      ),
  })
}

/** The lease is taken from its holder for good: that is asked once. */
function conflict(visit: Visit, { project, holder, other, holderSeenAt, stuck }: Conflict): Html {
  const id = `lease-${holder.id}-${other.id}`
  const who = { name: holder.agent, project }
  const asks = visit.query.get('confirm') === id
  const seen = holderSeenAt === 0 ? html`never seen` : html`last seen ${longTime(visit, holderSeenAt)}`
  const question = html`Release <code>${pathShown(holder.pattern)}</code>? <b>${holder.agent}</b> is told, and <b>${other.agent}</b> may go on.`
  return line(visit, {
    id,
    kind: stuck ? 'stuck lease' : 'lease conflict',
    who,
    says: html`<b>${agentLink(who, project)}</b> holds <code>${pathShown(holder.pattern)}</code>; <b>${agentLink({ name: other.agent, project }, project)}</b> wants <code>${pathShown(other.pattern)}</code> ${projectBadge(project)}`,
    more: asks ? question : html`${holder.agent} was ${seen}${stuck && html`: it is stuck`}`,
    when: html`since ${ageTime(visit, other.createdAt)}`,
    acts:
      visit.steers &&
      (asks
        ? html`${form(visit, at(project, 'file_reservations'), html`<button class="primary small" name="release" value="${holder.id}">Release now</button>`)}<a class="button small" href="${urlWith(visit, { confirm: undefined })}#need-${id}">Keep it</a>`
        : html`<a class="button small" href="${urlWith(visit, { confirm: id, done: undefined })}#need-${id}">Release<span class="visually-hidden"> ${holder.pattern} of ${holder.agent}</span></a>${write(visit, who)}`),
  })
}

const debt = (visit: Visit, { agent, count, since, messages }: Debtor): Html =>
  line(visit, {
    id: `ack-${agent.id}`,
    kind: 'overdue',
    who: agent,
    says: html`<b>${agentLink(agent, agent.project)}</b> owes ${count === 1 ? 'an acknowledgement' : `${count} acknowledgements`} ${projectBadge(agent.project)}`,
    more: html`${messages.map((message, place) => html`${place > 0 && ', '}<a href="${messageUrl(message)}">${message.sealed ? 'sealed mail' : pathShown(subjectShown(message.subject))}</a> of ${called(message.from, agent.project)}`)}${count > messages.length && html` and ${count - messages.length} more`}${agent.state === 'stuck' && html`; it is stuck, last seen ${longTime(visit, agent.seenAt)}`}`,
    when: html`for ${ageTime(visit, since)}`,
    acts:
      visit.steers &&
      html`${form(visit, '/mail/attention', html`<button class="quiet" name="remind_agent" value="${agent.name}@${agent.project}" aria-label="Remind ${agent.name}">Remind</button>`)}${write(visit, agent)}`,
  })

const silent = (visit: Visit, agent: BoardAgent): Html =>
  line(visit, {
    id: `stuck-${agent.id}`,
    kind: 'stuck',
    who: agent,
    says: html`<b>${agentLink(agent, agent.project)}</b> has not read mail of ${agent.holds.map(({ other }, place) => html`${place > 0 && ', '}<bdi>${called(other, agent.project)}</bdi>`)} ${projectBadge(agent.project)}`,
    more: html`${agent.unread} unread; ${agent.seenAt === 0 ? 'never seen' : html`last seen ${longTime(visit, agent.seenAt)}`}`,
    when: agent.oldestUnread !== undefined && html`for ${ageTime(visit, agent.oldestUnread)}`,
    acts: write(visit, agent),
  })
