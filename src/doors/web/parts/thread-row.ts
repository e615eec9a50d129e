/** A thread or topic as a line of a list. */
import { isNew } from '../../../core/pages/marks.ts'
import type { PageThread } from '../../../core/pages/threads.ts'
import { plainly } from '../../../fulltext/plain.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { disc, names, pathShown, threadTitle } from './people.ts'
import { newDot, typeBadge, unreadBy } from './rows.ts'
import { shortTime } from './times.ts'

/** Sealed threads of the same agents are one line, that of the newest. */
export function sealedThreads(threads: readonly PageThread[]): PageThread[] {
  const parties = ({ participants }: PageThread): string =>
    JSON.stringify(participants.map(({ name, project }) => `${name}@${project}`).sort())
  const groups = Map.groupBy(
    threads.filter(({ sealed, key }) => sealed && key === undefined),
    parties,
  )
  return threads.flatMap((thread) => {
    const alike = groups.get(parties(thread))
    if (alike === undefined || !alike.includes(thread)) return [thread]
    return alike[0] === thread ? [{ ...thread, count: alike.reduce((sum, { count }) => sum + count, 0) }] : []
  })
}

/** By its name: that of a topic, the key of a thread, or the number of its first message. */
export function threadRow(visit: Visit, project: string, thread: PageThread): Html {
  const { id, key, topic, subject, status, participants, count, last, sealed } = thread
  const fresh = last !== undefined && isNew(visit.marks, last)
  return html`<li class="row${fresh && ' new'}${sealed && ' sealed'}${last?.overseer && ' of-overseer'}" data-row id="t-${id}">
${newDot(fresh)}${disc(visit, last?.from ?? { name: topic ?? '·', project })}
<span class="who"><bdi>${names(participants, project, 3) || 'Nobody yet'}</bdi></span>
<span class="what"><a class="subject" href="${at(project, 'thread', id)}" dir="auto">${sealed ? 'Sealed: between agents with keys' : pathShown(topic ?? threadTitle(subject, key))}</a>${last && last.excerpt !== '' && html`<span class="excerpt" dir="auto">${pathShown(plainly(last.excerpt))}</span>`}</span>
<span class="tags">${last && unreadBy(last)}${last && typeBadge(last)}${topic !== undefined && html`<span class="badge">topic</span>`}${key !== undefined && html`<span class="badge mono" title="thread ${key}">${key}</span>`}${status === 'closed' && html`<span class="badge">closed</span>`}${count > 1 && html`<span class="number" title="${count} messages">${count}</span>`}</span>
<span class="when">${last && shortTime(visit, last.createdAt)}</span></li>`
}
