/** The composer of the overseer: recipients, subject and body, and a preview of what agents will see. */
import { z } from 'zod'
import { slugName } from '../../../base/names.ts'
import { preamble, withPreamble } from '../../../base/preamble.ts'
import { listAddressable } from '../../../core/pages/overseer.ts'
import { listGroups } from '../../../core/pages/overseer-groups.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { isoOrNull } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage } from '../page.ts'
import { connectLines } from '../parts/empty.ts'
import { faultOf, faultText, typedIn } from '../parts/fields.ts'
import { overseerBadge } from '../parts/people.ts'
import { type Addressees, recipients } from '../parts/recipients.ts'
import { text } from '../query.ts'
import { at, type Visit, withQuery } from '../site.ts'

export const page = definePage({
  query: z.object({ to: text, q: text, thread_id: text, subject: text, body_md: text, select: text }),
  async load({ hub, caller, mark }, _query, params) {
    const slug = params.project === undefined ? undefined : (await needProject(hub, caller, params.project)).slug
    const [projects, groups] = await Promise.all([
      listAddressable(hub, caller, slug),
      listGroups(hub, caller, { project: slug, mark }),
    ])
    return { slug, projects, groups }
  },
  json: ({ data: { projects, groups } }) => ({
    groups,
    agents: projects.flatMap(({ project, agents }) =>
      agents.map(({ name, task, activeAt, contactPolicy }) => ({
        name,
        project,
        task_description: task,
        last_active_ts: isoOrNull(activeAt || undefined),
        contact_policy: contactPolicy,
      })),
    ),
    preamble,
  }),
  async view({ data, visit }) {
    const { slug, projects } = data
    return {
      title: 'Send a message',
      here: 'compose',
      project: slug,
      up: slug === undefined ? '/mail' : at(slug),
      main: html`<ol class="crumbs"><li><a href="/mail/projects">Projects</a></li>${slug !== undefined && html`<li><a href="${at(slug)}">${slugName(slug)}</a></li>`}</ol>
<div class="head"><h1>Send a message</h1>${overseerBadge}</div>
${projects.every(({ agents }) => agents.length === 0) ? connectLines(visit) : await composer(visit, data)}`,
    }
  },
})

async function composer(visit: Visit, addressees: Addressees): Promise<Html> {
  const { slug } = addressees
  if (!visit.steers)
    return html`<p>Only people write as the overseer. ${visit.guarded && html`<a href="${withQuery('/mail/login', { next: visit.path })}">Log in</a>`}</p>`
  const { typed, csrf } = visit
  const action = slug === undefined ? at('overseer', 'compose') : at(slug, 'overseer', 'compose')
  const body = typedIn(visit, 'body_md')
  const [shown] = typed?.preview ? await visit.bodies.render(slug ?? '', [{ text: withPreamble(body) }]) : []
  return html`<p class="soft">Agents are told to pause their work, do what you ask, and then go on. Importance is high; contact policies are passed over.</p>
<div class="composing"><form class="composer stacked" method="post" action="${action}">${proof(csrf)}
${recipients(visit, addressees)}
<div class="field"><label for="subject">Subject</label><input type="text" id="subject" name="subject" required maxlength="255" value="${typedIn(visit, 'subject')}"${faultOf(visit, 'subject')}>${faultText(visit, 'subject')}</div>
<div class="field"><label for="body_md">Message, in Markdown</label><textarea id="body_md" name="body_md" required rows="10"${faultOf(visit, 'body_md')}>
${body}</textarea>${faultText(visit, 'body_md')}</div>
<div class="field"><label for="thread_id">Thread <span class="soft">(to go on with one; may be left empty)</span></label><input type="text" id="thread_id" name="thread_id" maxlength="128" value="${typedIn(visit, 'thread_id')}"${faultOf(visit, 'thread_id')}>${faultText(visit, 'thread_id')}</div>
<details class="field"><summary>What agents read before it</summary><pre class="small">${preamble}</pre></details>
<p class="ways send"><button class="primary" name="action" value="send">Send</button><button name="action" value="preview" formnovalidate>Preview</button></p></form>
${shown && html`<section class="preview" aria-label="Preview"><h2>${typedIn(visit, 'subject') || 'No subject'}</h2>${shown}</section>`}</div>`
}
