/** Lines about agents that hold others up, are late, silent or paused, and about mail that they never confirmed. */
import type { BoardAgent } from '../../../core/pages/board.ts'
import type { DeadLetter } from '../../../core/pages/dead-letters.ts'
import type { Loop } from '../../../core/pages/loops.ts'
import type { Conflict, Debtor } from '../../../core/pages/needs.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { asked, askFirst, form, letBe, line, write } from './need-line.ts'
import { deadId } from './need-texts.ts'
import { agentLink, called, pathShown, projectBadge, subjectShown } from './people.ts'
import { messageUrl } from './rows.ts'
import { ageTime, longTime } from './times.ts'

/** The lease is taken from its holder for good: that is asked once. */
export function conflict(visit: Visit, { project, holder, other, holderSeenAt, stuck }: Conflict): Html {
  const id = `lease-${holder.id}-${other.id}`
  const who = { name: holder.agent, project }
  const asks = asked(visit, id)
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
        ? html`${form(visit, at(project, 'file_reservations'), html`<button class="primary small" name="release" value="${holder.id}">Release now</button>`)}${letBe(visit, id, 'Keep it')}`
        : html`${askFirst(visit, id, html`Release<span class="visually-hidden"> ${holder.pattern} of ${holder.agent}</span>`)}${write(visit, who)}`),
  })
}

export const debt = (visit: Visit, { agent, count, more, since, messages }: Debtor): Html =>
  line(visit, {
    id: `ack-${agent.id}`,
    kind: 'overdue',
    who: agent,
    says: html`<b>${agentLink(agent, agent.project)}</b> owes ${count === 1 && !more ? 'an acknowledgement' : `${count}${more ? '+' : ''} acknowledgements`} ${projectBadge(agent.project)}`,
    more: html`${messages.map((message, place) => html`${place > 0 && ', '}<a href="${messageUrl(message)}">${message.sealed ? 'a sealed message' : pathShown(subjectShown(message.subject))}</a> of ${called(message.from, agent.project)}`)}${count > messages.length && html` and ${count - messages.length}${more && '+'} more`}${agent.state === 'stuck' && html`; it is stuck, last seen ${longTime(visit, agent.seenAt)}`}`,
    when: html`for ${ageTime(visit, since)}`,
    acts:
      visit.steers &&
      html`${form(visit, '/mail/attention', html`<button class="quiet" name="remind_agent" value="${agent.name}@${agent.project}" aria-label="Remind ${agent.name}">Remind</button>`)}${write(visit, agent)}`,
  })

export const silent = (visit: Visit, agent: BoardAgent): Html =>
  line(visit, {
    id: `stuck-${agent.id}`,
    kind: 'stuck',
    who: agent,
    says: html`<b>${agentLink(agent, agent.project)}</b> has not read mail of ${agent.holds.map(({ other }, place) => html`${place > 0 && ', '}<bdi>${called(other, agent.project)}</bdi>`)} ${projectBadge(agent.project)}`,
    more: html`${agent.unread} unread; ${agent.seenAt === 0 ? 'never seen' : html`last seen ${longTime(visit, agent.seenAt)}`}`,
    when: agent.oldestUnread !== undefined && html`for ${ageTime(visit, agent.oldestUnread)}`,
    acts: write(visit, agent),
  })

/** Mail goes on; nobody is woken for it. */
export const loop = (visit: Visit, { id, thread, project, agents, pausedAt }: Loop): Html =>
  line(visit, {
    id,
    kind: 'paused loop',
    who: { name: agents[0] ?? '', project },
    says: html`${agents.map((name, place) => html`${place > 0 && ', '}<b>${agentLink({ name, project }, project)}</b>`)} only answered each other in ${thread === undefined ? 'all threads' : html`<a class="subject" href="${at(project, 'thread', thread)}">${pathShown(thread)}</a>`} ${projectBadge(project)}`,
    more: html`They are not woken for their mail any more.`,
    when: html`for ${ageTime(visit, pausedAt)}`,
    acts:
      visit.steers &&
      form(
        visit,
        '/mail/attention',
        html`<button class="quiet" name="resume" value="${id}" aria-label="Let ${agents.join(', ')} be woken again">Resume</button>`,
      ),
  })

export const dead = (visit: Visit, { message, recipient, attempts, diedAt }: DeadLetter): Html =>
  line(visit, {
    id: deadId({ message, recipient }),
    kind: 'dead letter',
    who: recipient,
    says: html`<b>${agentLink(recipient, message.project)}</b> took <a class="subject" href="${messageUrl(message)}">${message.sealed ? 'a sealed message' : pathShown(subjectShown(message.subject))}</a> ${attempts} times and never confirmed it ${projectBadge(message.project)}`,
    more: html`From <bdi>${called(message.from, message.project)}</bdi>. It is in no mailbox any more.`,
    when: html`for ${ageTime(visit, diedAt)}`,
    acts:
      visit.steers &&
      form(
        visit,
        '/mail/attention',
        html`<button class="quiet" name="retry" value="${message.id}" aria-label="Retry: ${message.subject} to ${recipient.name}">Retry</button> <button class="quiet" name="drop" value="${message.id}" aria-label="Drop: ${message.subject} to ${recipient.name}">Drop</button>`,
      ),
  })
