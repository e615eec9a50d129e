/** The composer of the overseer: recipients, subject and body, and a preview of what agents will see. */
import { z } from 'zod'
import { slugName } from '../../../base/names.ts'
import { preamble, withPreamble } from '../../../base/preamble.ts'
import { listAddressable } from '../../../core/pages/overseer.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { isoOrNull } from '../../words/times.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage } from '../page.ts'
import { connectLines } from '../parts/empty.ts'
import { faultOf, faultText, typedIn } from '../parts/fields.ts'
import { disc, overseerBadge } from '../parts/people.ts'
import { text } from '../query.ts'
import { at, urlWith, type Visit, withQuery } from '../site.ts'

type Groups = Awaited<ReturnType<typeof listAddressable>>

export const page = definePage({
  query: z.object({ to: text, thread_id: text, subject: text, body_md: text, select: text }),
  async load({ hub, caller }, _query, params) {
    const slug = params.project === undefined ? undefined : (await needProject(hub, caller, params.project)).slug
    return { slug, groups: await listAddressable(hub, caller, slug) }
  },
  json: ({ data: { groups } }) => ({
    agents: groups.flatMap(({ project, agents }) =>
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
  async view({ data: { slug, groups }, visit }) {
    return {
      title: 'Send a message',
      here: 'compose',
      project: slug,
      up: slug === undefined ? '/mail' : at(slug),
      main: html`<ol class="crumbs"><li><a href="/mail/projects">Projects</a></li>${slug !== undefined && html`<li><a href="${at(slug)}">${slugName(slug)}</a></li>`}</ol>
<div class="head"><h1>Send a message</h1>${overseerBadge}</div>
${groups.every(({ agents }) => agents.length === 0) ? connectLines(visit) : await composer(visit, slug, groups)}`,
    }
  },
})

async function composer(visit: Visit, slug: string | undefined, groups: Groups): Promise<Html> {
  if (!visit.steers)
    return html`<p>Only people write as the overseer. ${visit.guarded && html`<a href="${withQuery('/mail/login', { next: visit.path })}">Log in</a>`}</p>`
  const { typed, csrf } = visit
  const action = slug === undefined ? at('overseer', 'compose') : at(slug, 'overseer', 'compose')
  const body = typedIn(visit, 'body_md')
  const [shown] = typed?.preview ? await visit.bodies.render(slug ?? '', [{ text: withPreamble(body) }]) : []
  return html`<p class="soft">Agents are told to pause their work, do what you ask, and then go on. Importance is high; contact policies are passed over.</p>
${shown && html`<section class="preview" aria-label="Preview"><h2>${typedIn(visit, 'subject') || 'No subject'}</h2>${shown}</section>`}
<form class="composer stacked" method="post" action="${action}">${proof(csrf)}
${recipients(visit, slug, groups)}
<div class="field"><label for="subject">Subject</label><input type="text" id="subject" name="subject" required maxlength="255" value="${typedIn(visit, 'subject')}"${faultOf(visit, 'subject')}>${faultText(visit, 'subject')}</div>
<div class="field"><label for="body_md">Message, in Markdown</label><textarea id="body_md" name="body_md" required rows="10"${faultOf(visit, 'body_md')}>
${body}</textarea>${faultText(visit, 'body_md')}</div>
<div class="field"><label for="thread_id">Thread <span class="soft">(to go on with one; may be left empty)</span></label><input type="text" id="thread_id" name="thread_id" maxlength="128" value="${typedIn(visit, 'thread_id')}"${faultOf(visit, 'thread_id')}>${faultText(visit, 'thread_id')}</div>
<details class="field"><summary>What agents read before it</summary><pre class="small">${preamble}</pre></details>
<p class="ways"><button class="primary" name="action" value="send">Send</button><button name="action" value="preview" formnovalidate>Preview</button></p></form>`
}

/** A name alone means this project; in the composer of all projects each has its own. */
function recipients(visit: Visit, slug: string | undefined, groups: Groups): Html {
  const { typed, query } = visit
  const all = query.get('select') === 'all'
  const chosen = new Set(
    typed ? typed.fields.getAll('recipients') : (query.get('to') ?? '').split(',').map((name) => name.trim()),
  )
  return html`<fieldset class="field"><legend>To</legend><p class="ways small"><a href="${urlWith(visit, { select: 'all' })}" data-select="all">Select all</a><a href="${urlWith(visit, { select: undefined, to: undefined })}" data-select="none">Clear</a></p>${faultText(visit, 'recipients')}
${groups.map(
  ({ project, agents }) =>
    html`${slug === undefined && agents.length > 0 && html`<h2>${slugName(project)}</h2>`}<div class="grid">${agents.map(
      ({ name, task, activeAt }) => {
        const value = project === slug ? name : `${name}@${project}`
        const on = all || chosen.has(value) || (project === slug && chosen.has(`${name}@${project}`))
        return html`<label title="${name}"><input type="checkbox" name="recipients" value="${value}"${on && html` checked`}>${disc(visit, { name, project })}<span>${name}</span>${activeAt === 0 && html`<span class="badge" title="Nobody has answered to this name yet">never active</span>`}<span class="task" title="${task}">${task}</span></label>`
      },
    )}</div>`,
)}</fieldset>`
}
