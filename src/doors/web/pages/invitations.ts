/** `/mail/invitations`: links that let owners of agents on other machines in; made, shown once, listed and revoked here. */
import { z } from 'zod'
import { limits } from '../../../base/limits.ts'
import { commons } from '../../../base/names.ts'
import { type Invitation, invitedDoors, listInvitations } from '../../../core/agents/invitations.ts'
import { type InvitedWords, joinLine, toInvitation } from '../../words/invitations.ts'
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { definePage } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { faultOf, faultText, typedIn } from '../parts/fields.ts'
import { projectBadge } from '../parts/people.ts'
import { longTime, untilTime } from '../parts/times.ts'
import { text } from '../query.ts'
import { type Visit, withQuery } from '../site.ts'

const lasting = [
  ['1h', 'an hour'],
  ['24h', 'a day'],
  ['7d', 'a week'],
  ['30d', '30 days'],
] as const

export const page = definePage({
  query: z.object({ project: text, name: text }),
  load: ({ hub, caller }) => listInvitations(hub, caller, { limit: limits.listed }),
  json: ({ data: { invitations, more } }) => ({ invitations: invitations.map(toInvitation), has_more: more }),
  view: ({ data: { invitations, more }, visit }) => ({
    title: 'Invitations',
    here: 'invitations',
    up: '/mail',
    main: html`<div class="head"><h1>Invitations</h1></div>
<p class="soft">An invitation is a link for the owner of one agent, on any machine. It gives the key of that agent, once; from then on nobody else acts as it.</p>
${given(visit)}
${visit.steers ? form(visit) : html`<p>Only people invite. ${visit.guarded && html`<a href="${withQuery('/mail/login', { next: visit.path })}">Log in</a>`}</p>`}
<section class="section"><h2>Not used yet</h2>${
      invitations.length === 0
        ? empty('No open invitation', 'One that was used, revoked or ran out is not listed.')
        : table(visit, invitations)
    }${more && html`<p class="hint">There are more than these.</p>`}</section>`,
  }),
})

/** The link of an invitation that was made just now: it stands in this answer and nowhere else. */
function given({ typed, reachable }: Visit): Html | undefined {
  if (!typed?.preview) return undefined
  const { agent, link } = typed.receipt as InvitedWords
  return html`<section class="preview" aria-label="The new invitation"><h2>Send this line to the owner of ${agent}</h2>
<pre tabindex="0">${joinLine(link)}</pre><p>It is shown once, and works once. Send it where nobody else reads it.${!reachable && html` HTTP_PUBLIC_URL is not set: this address may not be reachable from another machine.`}</p></section>`
}

function form(visit: Visit): Html {
  const again = visit.typed !== undefined && !visit.typed.preview
  const value = (name: string): string => (visit.typed === undefined || again ? typedIn(visit, name) : '')
  const chosen = (name: string, one: string, usual: string) => (value(name) || usual) === one && html` selected`
  return html`<form class="stacked short" method="post" action="/mail/invitations">${proof(visit.csrf)}
<div class="field"><label for="name">Agent</label><input type="text" id="name" name="name" required maxlength="100" autocomplete="off" value="${value('name')}"${faultOf(visit, 'name')}>${faultText(visit, 'name')}</div>
<div class="field"><label for="project">Project <span class="soft">(a slug or a folder; ${commons} is the one for all)</span></label><input type="text" id="project" name="project" autocomplete="off" value="${value('project') || commons}"${faultOf(visit, 'project')}>${faultText(visit, 'project')}</div>
<div class="field"><label for="door">Door <span class="soft">(that its client will use)</span></label><select id="door" name="door"><option value="">the usual one</option>${invitedDoors.map((one) => html`<option value="${one}"${chosen('door', one, '')}>${one}</option>`)}</select></div>
<div class="field"><label for="expires">Good for</label><select id="expires" name="expires"${faultOf(visit, 'expires')}>${lasting.map(([time, says]) => html`<option value="${time}"${chosen('expires', time, '24h')}>${says}</option>`)}</select>${faultText(visit, 'expires')}</div>
<p class="ways"><button class="primary">Invite</button></p></form>`
}

const table = (visit: Visit, invitations: readonly Invitation[]): Html =>
  html`<div class="scrolls"><table class="table"><thead><tr><th>Agent</th><th>Project</th><th>Door</th><th>Made</th><th>Ends</th>${visit.steers && html`<th><span class="visually-hidden">Revoke</span></th>`}</tr></thead><tbody>${invitations.map(
    ({ agent, project, door, createdAt, expiresAt }) =>
      html`<tr data-row><td>${agent}</td><td data-label="project">${projectBadge(project)}</td><td class="short" data-label="door">${door}</td><td class="short" data-label="made">${longTime(visit, createdAt)}</td><td class="short" data-label="ends">${untilTime(visit, expiresAt)}</td>${visit.steers && html`<td><form method="post" action="/mail/invitations">${proof(visit.csrf)}<input type="hidden" name="project" value="${project}"><button class="quiet" name="revoke" value="${agent}" aria-label="Revoke the invitation of ${agent}">Revoke</button></form></td>`}</tr>`,
  )}</tbody></table></div>`
