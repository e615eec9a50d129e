/** `/mail/{project}/thread/{thread}`: a conversation, who takes part in it, a map of it, and a box to answer. */
import { z } from 'zod'
import { slugName } from '../../../base/names.ts'
import { ownWords } from '../../../base/preamble.ts'
import { findMissed, isNew, markSeen, seenAt } from '../../../core/pages/marks.ts'
import { type ShownThread, showThread } from '../../../core/pages/threads.ts'
import { summarizeThread, type ThreadSummary } from '../../../core/threads/summaries.ts'
import { iso } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { attached } from '../parts/attached.ts'
import { threadInspector } from '../parts/inspector.ts'
import { agentLink, arrow, disc, names, overseerBadge, pathShown, threadTitle } from '../parts/people.ts'
import { foldedPreamble } from '../parts/preamble.ts'
import { replyBox } from '../parts/reply.ts'
import { importanceBadge, messageUrl, typeBadge, unreadBy } from '../parts/rows.ts'
import { summaryPart } from '../parts/summary.ts'
import { clockTime, shortTime } from '../parts/times.ts'
import { flag, limit, place } from '../query.ts'
import { addressIn, nextUrl, toMessage } from '../shapes.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { threadText } from '../texts.ts'

export const page = definePage({
  query: z.object({ before: place, after: place, at: place, limit, summary: flag }),
  async load({ hub, caller, marks, query }, { summary, ...place }, params) {
    const [project, key] = [part(params, 'project'), part(params, 'thread')]
    const end = await showThread(hub, caller, project, { thread: key, ...place })
    const own = end.messages.filter((message) => message.project === end.project)
    const missed = end.next === undefined ? undefined : await findMissed(hub, caller, marks, own)
    // Of a place that was asked for, more may be new before it: then none of it counts as seen.
    const asked = [...places, 'summary', 'format'].some((name) => query.has(name))
    const from = asked ? undefined : missed
    const thread =
      from === undefined ? end : await showThread(hub, caller, project, { ...place, thread: key, at: from })
    const told = summary ? await summarizeThread(hub, caller, { project, key, refine: true }) : undefined
    if (missed === undefined || from !== undefined) await markSeen(hub, caller, marks, thread.messages)
    return { thread, told, from }
  },
  json: ({ data: { thread, told }, visit }) => ({
    thread_id: thread.id,
    subject: thread.subject,
    topic: thread.topic ?? null,
    status: thread.status,
    participants: thread.participants.map(({ name, project, activeAt, waiting }) => ({
      name: addressIn(thread.project)({ name, project }),
      last_active_ts: activeAt === 0 ? null : iso(activeAt),
      waiting,
    })),
    messages: thread.messages.map((message) => ({
      ...toMessage(message),
      body_md: message.body ?? '',
      ...(message.bodyCut && { body_cut: true }),
      reply_to: message.replyTo ?? null,
    })),
    next: nextUrl(visit, thread.next),
    later: laterUrl(visit, thread),
    ...(told && { summary: summaryShape(told) }),
  }),
  text: ({ data: { thread } }) => threadText(thread.topic ?? thread.subject, thread.messages),
  async view({ data: { thread, told, from }, visit }) {
    const { project, id, topic, status, messages, count } = thread
    const title = thread.sealed ? 'Sealed thread' : (topic ?? threadTitle(thread.subject, thread.key))
    const bodies = await visit.bodies.render(
      project,
      messages.map((message) => ({
        key: `${message.id}`,
        text: ownWords(message.from.name, message.body ?? ''),
        whole: `${messageUrl(message)}?format=md`,
      })),
    )
    const earlier = nextUrl({ ...visit, query: withoutPlace(visit) }, thread.next)
    const later = laterUrl(visit, thread)
    const first = messages.find((message) => isNew(visit.marks, message))
    return {
      title,
      project,
      up: at(project, 'threads'),
      watch: { project, thread: id },
      inspector: threadInspector(visit, thread, { summarized: told !== undefined }),
      main: html`<ol class="crumbs"><li><a href="/mail/projects">Projects</a></li><li><a href="${at(project)}">${slugName(project)}</a></li><li><a href="${at(project, 'threads')}">Threads</a></li></ol>
<div class="head"><h1 dir="auto"><span>${pathShown(title)}</span></h1></div>
<p class="facts-line">${topic !== undefined && html`<span class="badge">topic</span>`}${thread.key !== undefined && html`<span class="mono">${thread.key}</span>`}<span class="state ${status === 'open' ? 'good' : ''}">${status}</span><span>${count} ${count === 1 ? 'message' : 'messages'}</span>${thread.closeReason && html`<span dir="auto">${thread.closeReason}</span>`}</p>
${told && summaryPart(told)}
${earlier !== null && html`<a class="earlier" rel="prev" href="${earlier}">${first !== undefined && first === messages[0] ? 'Earlier messages, perhaps new to you' : 'Earlier messages'}</a>`}
${messages.map((message, place) => html`${message === first && newLine(visit, message, from)}${article(visit, thread, message, bodies[place])}`)}
${later !== null && html`<p class="ways"><a class="earlier" rel="next" href="${later}">Later messages</a><a class="earlier" href="${withQuery(at(project, 'thread', id), { newest: 1 })}">Newest messages</a></p>`}${later === null && replyBox(visit, thread)}`,
    }
  },
})

/** Parameters that say which part of the thread is shown. */
const places = ['before', 'after', 'at', 'newest', 'done']

function withoutPlace({ query }: Visit): URLSearchParams {
  const rest = new URLSearchParams(query)
  for (const name of places) rest.delete(name)
  return rest
}

const laterUrl = (visit: Visit, { later }: ShownThread): string | null =>
  nextUrl({ ...visit, query: withoutPlace(visit) }, later, 'after')

/** Where a person left off. `from`: the page begins here, and is found again by it once these count as seen. */
const newLine = (visit: Visit, { threadId }: ShownThread['messages'][number], from: number | undefined): Html =>
  html`<p class="new-line" id="new"${from !== undefined && html` data-at="${from}"`}><span>New since ${clockTime(visit, seenAt(visit.marks, threadId))}</span></p>`

function article(
  visit: Visit,
  { project }: ShownThread,
  message: ShownThread['messages'][number],
  body: Html | undefined,
): Html {
  const { id, from, to, cc, overseer, author, sealed, topic } = message
  const recipients = topic === undefined ? names([...to, ...cc], project, 4) : ''
  return html`<article class="message${overseer && ' of-overseer'}" id="m-${id}" data-row><header>${disc(visit, from)}<h2>${agentLink(from, project)}</h2>${recipients !== '' && html`<span class="to">${arrow}<bdi>${recipients}</bdi></span>`}${overseer && overseerBadge}${author && html`<bdi class="author">${author}</bdi>`}${typeBadge(message)}${importanceBadge(message)}${unreadBy(message)}<span class="when"><a class="subject" href="${messageUrl(message)}">${shortTime(visit, message.createdAt)}<span class="visually-hidden">: this message</span></a></span></header>
${sealed ? html`<p class="soft">Sealed: between agents that hold keys.</p>` : html`${foldedPreamble(message)}${body}`}${message.bodyCut && html`<p><a href="${messageUrl(message)}">All of this message</a></p>`}${attached(visit, project, message.attachments)}</article>`
}

const summaryShape = ({ overview, participants, keyPoints, decisions, actionItems, openQuestions }: ThreadSummary) => ({
  overview: overview ?? null,
  participants: participants.map(({ name }) => name),
  key_points: keyPoints,
  decisions,
  action_items: actionItems,
  open_questions: openQuestions,
})
