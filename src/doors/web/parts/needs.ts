/** The list of what needs a person: each line says what it is, and acts in place. Works without scripts. */
import { overseer } from '../../../base/names.ts'
import type { Needs } from '../../../core/pages/needs.ts'
import type { PageMessage } from '../../../core/pages/page-message.ts'
import { plainly } from '../../../fulltext/plain.ts'
import { type Html, html } from '../html.ts'
import { addressIn } from '../shapes.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { icon } from './icons.ts'
import { asked, askFirst, form, letBe, line } from './need-line.ts'
import { conflict, dead, debt, loop, silent } from './needs-agents.ts'
import { agentLink, pathShown, projectBadge, subjectShown } from './people.ts'
import { threadUrl } from './rows.ts'
import { ageTime, shortTime } from './times.ts'

const mostLines = 100

export function needsList(visit: Visit, needs: Needs, most = mostLines): Html {
  if (needs.count === 0)
    return html`<div class="calm">${icon(visit, 'check')}<div><h3>Nothing needs you</h3><p>No agent is stuck, nobody asks, and every acknowledgement came in time.</p></div></div>`
  // Made when they are shown: an idle hub may owe hundreds of acknowledgements.
  const lines: (() => Html)[] = [
    ...needs.answers.map((message) => () => answer(visit, message)),
    ...needs.conflicts.map((pair) => () => conflict(visit, pair)),
    ...needs.contacts.map((contact) => () => request(visit, contact)),
    ...needs.questions.map((message) => () => question(visit, message)),
    ...needs.loops.map((paused) => () => loop(visit, paused)),
    ...needs.dead.map((letter) => () => dead(visit, letter)),
    ...needs.debtors.map((debtor) => () => debt(visit, debtor)),
    ...needs.stuck.map((agent) => () => silent(visit, agent)),
  ]
  const left = lines.length - most
  return html`<ul class="needs">${lines.slice(0, most).map((make) => make())}</ul>${(left > 0 || needs.more) && (visit.path === '/mail' ? html`<p class="all"><a href="/mail/attention">All ${lines.length}${needs.more && '+'} that need you</a></p>` : html`<p class="hint all">There are ${left > 0 && left} more: they come up as these are done.</p>`)}`
}

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

/** It is answered in its topic, from this line. */
const question = (visit: Visit, message: PageMessage): Html =>
  line(visit, {
    id: `question-${message.id}`,
    kind: 'question',
    who: message.from,
    says: html`<b>${agentLink(message.from, message.project)}</b> asks in <a class="subject" href="${threadUrl(message)}#m-${message.id}">${pathShown(message.topic ?? '')}</a>: ${pathShown(plainly(message.excerpt))} ${projectBadge(message.project)}`,
    when: html`for ${ageTime(visit, message.createdAt)}`,
    acts:
      visit.steers &&
      html`<details class="inline"><summary class="button small">Answer<span class="visually-hidden"> ${message.from.name}</span></summary>${form(
        visit,
        threadUrl(message),
        html`<input type="hidden" name="answers" value="${message.id}"><label class="visually-hidden" for="answer-${message.id}">Answer to ${message.from.name}</label><textarea id="answer-${message.id}" name="body_md" required rows="3"></textarea><button class="primary small">Send</button>`,
      )}</details>`,
  })

/** An approval lets the other write at once: it is asked once. A denial can be taken back. */
function request(visit: Visit, { id: contactId, from, to, reason, createdAt }: Needs['contacts'][number]): Html {
  const id = `contact-${contactId}`
  const decide = (decision: 'approve' | 'deny', label: string, look: string) =>
    form(
      visit,
      at(to.project, 'contacts'),
      html`<input type="hidden" name="from" value="${addressIn(to.project)(from)}"><input type="hidden" name="to" value="${to.name}"><button class="${look}" name="decision" value="${decision}" aria-label="${label}: ${from.name} to ${to.name}">${label}</button>`,
    )
  const asks = asked(visit, id)
  return line(visit, {
    id,
    kind: 'contact',
    who: from,
    says: html`<b>${agentLink(from, to.project)}</b> asks to write to <b>${agentLink(to, to.project)}</b> ${projectBadge(to.project)}`,
    more: asks
      ? html`Approve? <b>${from.name}</b> may write to <b>${to.name}</b> from then on, and ${to.name} back.`
      : reason !== '' && html`${pathShown(reason)}`,
    when: shortTime(visit, createdAt),
    acts:
      visit.steers &&
      (asks
        ? html`${decide('approve', 'Approve now', 'primary small')}${letBe(visit, id, 'Not yet')}`
        : html`${askFirst(visit, id, html`Approve<span class="visually-hidden"> ${from.name} to ${to.name}</span>`)}${decide('deny', 'Deny', 'quiet')}`),
  })
}
