/** `/mail/{project}/message/{id}`: one message, each recipient with its state in words, and the thread around it. */
import { z } from 'zod'
import { HubError } from '../../../base/errors.ts'
import { isReserved, slugName } from '../../../base/names.ts'
import { ownWords } from '../../../base/preamble.ts'
import { echo } from '../../../base/text.ts'
import { markSeen } from '../../../core/pages/marks.ts'
import { type RecipientState, type ShownMessage, showMessage } from '../../../core/pages/message.ts'
import type { Who } from '../../../core/pages/page-message.ts'
import { traceMessage } from '../../../core/pages/trace.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage, part } from '../page.ts'
import { attached } from '../parts/attached.ts'
import { icon } from '../parts/icons.ts'
import { agentLink, called, disc, overseerBadge, pathShown, subjectShown } from '../parts/people.ts'
import { foldedPreamble } from '../parts/preamble.ts'
import { sendButton } from '../parts/project-head.ts'
import { importanceBadge, row, rows, threadUrl, typeBadge } from '../parts/rows.ts'
import { fullTime, longTime } from '../parts/times.ts'
import { addressIn, toMessage, toRecipient } from '../shapes.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { messageText } from '../texts.ts'

export const page = definePage({
  query: z.object({}),
  async load({ hub, caller, marks }, _query, params) {
    const [project, id] = [part(params, 'project'), part(params, 'id')]
    if (!/^\d{1,15}$/.test(id)) throw new HubError('MESSAGE_NOT_FOUND', `There is no message ${echo(id)}.`)
    const message = await showMessage(hub, caller, project, Number(id))
    await markSeen(hub, caller, marks, [message])
    // Late is told from lost: whether it gets through to those who have not read it, and how many messages are before it.
    const { deliveries } = await traceMessage(hub, caller, message.id)
    const reachOf = ({ name, project }: Who) =>
      deliveries.find((one) => one.name === name && one.project === project)?.reach?.text
    return { ...message, states: message.states.map((state) => ({ ...state, reach: reachOf(state) })) }
  },
  json: ({ data }) => ({
    ...toMessage(data),
    body_md: data.body ?? '',
    bcc: data.bcc.map(addressIn(data.project)),
    recipients: data.states.map((state) => ({ ...toRecipient(state), ...(state.reach && { reach: state.reach }) })),
    thread: data.around.map(toMessage),
  }),
  text: ({ data }) => messageText(data),
  async view({ data, visit, params }) {
    const project = part(params, 'project')
    const { id, subject, from, sealed, overseer, author, createdAt, topic, attachments } = data
    const text = withQuery(at(project, 'message', id), { format: 'md' })
    const [body] = await visit.bodies.render(
      data.project,
      sealed ? [] : [{ key: `${id}`, text: ownWords(from.name, data.body ?? ''), whole: text }],
    )
    const title = sealed ? 'Sealed message' : subjectShown(subject)
    return {
      title,
      project,
      up: threadUrl(data),
      watch: { project, thread: data.thread ?? String(id) },
      main: html`<ol class="crumbs"><li><a href="/mail/projects">Projects</a></li><li><a href="${at(project)}">${slugName(project)}</a></li><li><a href="${threadUrl(data)}">${topic ?? (data.thread !== undefined ? `Thread ${data.thread}` : 'Thread')}</a></li></ol>
<article class="letter"><header><h1 dir="auto">${pathShown(title)}</h1>
<p class="facts-line">${disc(visit, from)}<b>${agentLink(from, project)}</b>${overseer && overseerBadge}${author && html`<bdi class="author">${author}</bdi>`}<span>${fullTime(visit, createdAt)}</span><span>${longTime(visit, createdAt)}</span>${typeBadge(data)}${importanceBadge(data)}${data.ackRequired && html`<span class="badge">acknowledgement required</span>`}<a href="${text}">${icon(visit, 'text')}As text</a></p></header>
${recipientList(visit, project, data)}
${sealed ? html`<p class="soft">All agents of this message hold keys. Whoever has the operator's token can read it.</p>` : html`${foldedPreamble(data)}${body}`}
${attached(visit, data.project, attachments)}
<p class="ways section">${sendButton(visit, {
        project,
        to: called(from, project) === from.name ? from.name : `${from.name}@${from.project}`,
        thread_id: data.thread ?? String(id),
        subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
      })}<a class="button" href="${withQuery(threadUrl(data), { at: id })}#m-${id}" data-hotkey="r">${icon(visit, 'reply')}Reply in the thread</a></p></article>
${data.around.length > 1 && html`<section class="around"><h2>In this thread</h2>${rows(data.around.map((one) => row(visit, one, { home: project })))}</section>`}`,
    }
  },
})

const kinds = [
  ['to', 'To'],
  ['cc', 'Cc'],
  ['bcc', 'Bcc'],
] as const

const looks = {
  unread: '',
  read: 'note',
  acknowledged: 'good',
  overdue: 'late',
  expired: 'late',
  dead: 'late',
  dropped: 'note',
} as const

/** With how it is reached, while it has not read the message. */
interface Recipient extends RecipientState {
  readonly reach: string | undefined
}

interface WithRecipients extends Pick<ShownMessage, 'id' | 'topic'> {
  readonly states: readonly Recipient[]
}

function recipientList(visit: Visit, project: string, { id, states, topic }: WithRecipients): Html {
  if (states.length === 0)
    return html`<p class="soft">${topic === undefined ? 'No recipients.' : `Said in the topic ${topic}.`}</p>`
  return html`<dl class="recipients">${kinds.map(([kind, label]) => {
    const parties = states.filter((party) => party.kind === kind)
    return (
      parties.length > 0 &&
      html`<div><dt>${label}</dt><dd><ul>${parties.map((party) => recipient(visit, project, party, id))}</ul></dd></div>`
    )
  })}</dl>`
}

/** An answer to people counts as new until one of them says that it was read: looking at it changes nothing. */
const markRead = ({ csrf, path }: Visit, { name, project }: RecipientState, id: number): Html =>
  html`<form method="post" action="${at(project, 'inbox', name)}">${proof(csrf)}<input type="hidden" name="next" value="${path}"><button class="quiet" data-read name="read" value="${id}">Mark as read</button></form>`

function recipient(visit: Visit, project: string, party: Recipient, id: number): Html {
  const { state, readAt, ackedAt, reach } = party
  const time = ackedAt ?? readAt
  const since = time !== undefined && longTime(visit, time)
  return html`<li>${disc(visit, party)}${agentLink(party, project)}${visit.steers && isReserved(party.name) && readAt === undefined && markRead(visit, party, id)}<span class="state ${looks[state]}">${state}${since && (state === 'overdue' ? html`, read ${since}` : html` ${since}`)}</span>${reach !== undefined && html`<span class="soft">${reach}</span>`}</li>`
}
