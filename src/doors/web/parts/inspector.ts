/** The column beside a thread: who takes part and is there, a map of it, and its other forms. */
import type { ShownThread } from '../../../core/pages/threads.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { conversationMap } from './charts.ts'
import { icon } from './icons.ts'
import { agentLink, disc, tint } from './people.ts'
import { shortTime } from './times.ts'

export function threadInspector(visit: Visit, thread: ShownThread, { summarized }: { summarized: boolean }): Html {
  const { project, id, participants, messages, topic, status, sealed } = thread
  const url = at(project, 'thread', id)
  return html`<section><h2>Participants</h2><ul class="compact">${participants.map(
    (who) =>
      html`<li>${disc(visit, who)}${agentLink(who, project)}<span class="facts">${
        who.waiting
          ? html`<span class="state good">waiting</span>`
          : who.activeAt === 0
            ? 'never active'
            : shortTime(visit, who.seenAt === undefined ? who.activeAt : Math.max(who.seenAt, who.activeAt))
      }</span></li>`,
  )}</ul></section>
${
  messages.length > 1 &&
  html`<section><h2>Map</h2>${conversationMap(
    messages.map((message) => ({
      id: message.id,
      from: message.from.name,
      label: message.subject,
      replyTo: message.replyTo,
    })),
    (name) => {
      const who = messages.find(({ from }) => from.name === name)?.from ?? { name, project }
      return { initials: visit.discOf(who).initials, hue: tint(visit, who) }
    },
  )}</section>`
}
<section><ul class="compact"><li>${icon(visit, 'text')}<a href="${withQuery(url, { format: 'md' })}">Export as Markdown</a></li>${!summarized && !sealed && html`<li>${icon(visit, 'chart')}<a href="${withQuery(url, { summary: 1 })}">Summarize</a></li>`}</ul>${
    topic !== undefined &&
    visit.steers &&
    html`<form method="post" action="${url}">${proof(visit.csrf)}<button class="quiet" name="status" value="${status === 'open' ? 'closed' : 'open'}">${status === 'open' ? 'Close the topic' : 'Open it again'}</button></form>`
  }</section>`
}
