/** The box at the end of a thread: an answer of the overseer to all who take part. */

import { agentOf, isAnonymous } from '../../../core/access/rules.ts'
import type { ShownThread } from '../../../core/pages/threads.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { faultOf, faultText, typedIn } from './fields.ts'
import { overseerBadge } from './people.ts'

export function replyBox(visit: Visit, { project, id, topic, status }: ShownThread): Html | undefined {
  const { caller, guarded, steers, path, csrf } = visit
  const agent = agentOf(caller) !== undefined
  if (!steers && !agent)
    return guarded && isAnonymous(caller)
      ? html`<p class="reply"><a href="${withQuery('/mail/login', { next: path })}">Log in</a> to answer.</p>`
      : undefined
  if (status === 'closed') return html`<p class="reply soft">The topic is closed.</p>`
  return html`<form class="reply stacked" id="reply" method="post" action="${at(project, 'thread', id)}">${proof(csrf)}
<label for="body_md">${topic === undefined ? 'Answer to all participants' : 'Say something in this topic'} ${!agent && overseerBadge}</label>
<textarea id="body_md" name="body_md" required data-hotkey="r"${faultOf(visit, 'body_md')}>${typedIn(visit, 'body_md')}</textarea>${faultText(visit, 'body_md')}
<button class="primary">Send</button></form>`
}
