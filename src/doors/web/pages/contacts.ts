/** `/mail/{project}/contacts`: who may write to whom, and the policy of each agent. */
import { z } from 'zod'
import type { Contact } from '../../../core/contacts/links.ts'
import { listProjectContacts } from '../../../core/pages/contacts.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { toContact } from '../../words/contacts.ts'
import { type Html, html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { faultText } from '../parts/fields.ts'
import { asked, askFirst, form, letBe } from '../parts/need-line.ts'
import { agentLink, disc, pathShown } from '../parts/people.ts'
import { projectHead } from '../parts/project-head.ts'
import { longTime, untilTime } from '../parts/times.ts'
import { addressIn } from '../shapes.ts'
import { at, type Visit } from '../site.ts'

export const page = definePage({
  query: z.object({}),
  async load({ hub, caller }, _query, params) {
    const { slug } = await needProject(hub, caller, part(params, 'project'))
    return { slug, ...(await listProjectContacts(hub, caller, slug)) }
  },
  json: ({ data: { contacts, policies } }) => ({
    contacts: contacts.map(toContact),
    policies: policies.map(({ name, policy }) => ({ name, contact_policy: policy })),
  }),
  view: ({ data: { slug, contacts, policies, more }, visit }) => ({
    title: `Contacts of ${slug}`,
    project: slug,
    up: at(slug),
    watch: { project: slug },
    main: html`${projectHead(visit, { project: slug, title: 'Contacts', tab: 'contacts' })}${faultText(visit, 'decision')}
${contacts.length === 0 ? empty('No contact yet', 'Agents ask with request_contact; what waits for an answer stands here first.') : table(visit, slug, contacts)}${more && html`<p class="hint">There are more than these.</p>`}
<section class="section"><h2>Policies</h2>${
      policies.length === 0
        ? html`<p class="soft">No agent yet.</p>`
        : html`<ul class="people">${policies.map(
            ({ name, policy }) =>
              html`<li data-row>${disc(visit, { name, project: slug })}<span>${agentLink({ name, project: slug }, slug)}</span><span class="task">${meanings[policy] ?? ''}</span><code>${policy}</code></li>`,
          )}</ul>`
    }</section>`,
  }),
})

const meanings: Readonly<Record<string, string>> = {
  open: 'Takes mail from everybody',
  auto: 'Takes mail from those it works with',
  contacts_only: 'Takes mail from approved contacts',
  block_all: 'Takes mail from nobody but people',
}

const looks: Readonly<Record<string, string>> = { pending: 'wait', approved: 'good', denied: '', expired: '' }

const table = (visit: Visit, slug: string, contacts: readonly Contact[]): Html =>
  html`<div class="scrolls"><table class="table"><thead><tr><th>From</th><th>To</th><th>State</th><th>Reason</th><th>Changed</th><th>Expires</th>${visit.steers && html`<th><span class="visually-hidden">Decide</span></th>`}</tr></thead><tbody>${contacts.map(
    (contact) =>
      html`<tr id="contact-${contact.id}" data-row><td>${agentLink(contact.from, slug)}</td><td data-label="to">${agentLink(contact.to, slug)}</td><td class="short"><span class="state ${looks[contact.status] ?? ''}">${contact.status}</span></td><td dir="auto">${pathShown(contact.reason)}</td><td class="short" data-label="changed">${longTime(visit, contact.updatedAt)}</td><td class="short" data-label="expires">${contact.expiresAt === undefined ? html`<span class="soft">never</span>` : contact.expiresAt > visit.now ? untilTime(visit, contact.expiresAt) : longTime(visit, contact.expiresAt)}</td>${visit.steers && html`<td>${contact.status === 'pending' && decide(visit, slug, contact)}</td>`}</tr>`,
  )}</tbody></table></div>`

/** An approval lets the other write at once: it is asked once. */
function decide(visit: Visit, slug: string, { id, from, to }: Contact): Html {
  const row = `contact-${id}`
  const press = (decision: 'approve' | 'deny', label: string, look: string) =>
    form(
      visit,
      at(slug, 'contacts'),
      html`<input type="hidden" name="from" value="${addressIn(slug)(from)}"><input type="hidden" name="to" value="${addressIn(slug)(to)}"><button class="${look}" name="decision" value="${decision}" aria-label="${label}: ${from.name} to ${to.name}">${label}</button>`,
    )
  return asked(visit, row)
    ? html`<div class="asking"><p><b>${from.name}</b> may write to <b>${to.name}</b> from then on, and ${to.name} back.</p>${press('approve', 'Approve now', 'primary small')}${letBe(visit, row, 'Not yet', row)}</div>`
    : html`<div class="asking">${askFirst(visit, row, html`Approve<span class="visually-hidden"> ${from.name} to ${to.name}</span>`, row)}${press('deny', 'Deny', 'quiet')}</div>`
}
