/** A thread or topic as a line of a list. */
import type { PageThread } from '../../../core/pages/threads.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { plainly } from './excerpts.ts'
import { disc, names } from './people.ts'
import { shortTime } from './times.ts'

/** By its name: that of a topic, the key of a thread, or the number of its first message. */
export function threadRow(visit: Visit, project: string, thread: PageThread): Html {
  const { id, key, topic, subject, status, participants, count, last, sealed } = thread
  const unread = (last?.unread ?? 0) > 0
  return html`<li class="row${unread && ' unread'}${sealed && ' sealed'}${last?.overseer && ' of-overseer'}" data-row id="t-${id}">
<span class="dot">${unread && html`<span class="visually-hidden">Unread</span>`}</span>${disc(last?.from.name ?? topic ?? '·')}
<span class="who"><bdi>${names(participants, project, 3) || 'Nobody yet'}</bdi></span>
<span class="what"><a class="subject" href="${at(project, 'thread', id)}" dir="auto">${sealed ? 'Sealed: between agents with keys' : (topic ?? subject)}</a>${last && last.excerpt !== '' && html`<span class="excerpt" dir="auto">${plainly(last.excerpt)}</span>`}</span>
<span class="tags">${topic !== undefined && html`<span class="badge">topic</span>`}${key !== undefined && html`<span class="badge mono" title="thread ${key}">${key}</span>`}${status === 'closed' && html`<span class="badge">closed</span>`}<span class="number" title="${count} messages">${count}</span></span>
<span class="when">${last && shortTime(visit, last.createdAt)}</span></li>`
}
