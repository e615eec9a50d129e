/** Projects as a table, and pairs of them that may belong together. */

import { slugName } from '../../../base/names.ts'
import type { PageProject } from '../../../core/pages/projects.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit } from '../site.ts'
import { form } from './need-line.ts'
import { pathShown, projectBadge, slugShown } from './people.ts'
import { longTime } from './times.ts'

export const projectTable = (visit: Visit, projects: readonly PageProject[]): Html =>
  html`<div class="scrolls"><table class="table"><thead><tr><th>Project</th><th>Folder</th><th class="number">Agents</th><th class="number">Messages</th><th class="short">Unread by</th><th>Last active</th><th>Created</th></tr></thead>
<tbody>${projects.map(
    ({ slug, key, agents, messages, behind, activeAt, createdAt, siblings }) =>
      html`<tr data-row><td><a class="subject" href="${at(slug)}"><b>${slugShown(slug)}</b></a>${siblings.length > 0 && html` <span class="siblings">${siblings.map(projectBadge)}</span>`}</td><td class="path mono soft" title="${key}">${pathShown(key)}</td><td class="number" data-label="Agents">${agents}</td><td class="number" data-label="Messages">${messages}</td><td class="short" data-label="Unread by">${behind === 0 ? html`<span class="soft">nobody</span>` : behind === 1 ? '1 agent' : `${behind} agents`}</td><td class="short" data-label="Active">${activeAt === undefined ? html`<span class="soft">never</span>` : longTime(visit, activeAt)}</td><td class="short" data-label="Created">${longTime(visit, createdAt)}</td></tr>`,
  )}</tbody></table></div>`

interface Suggestion {
  readonly a: { readonly slug: string }
  readonly b: { readonly slug: string }
  readonly percent: number
  readonly reason: string
}

export const suggestionList = (visit: Visit, suggestions: readonly Suggestion[]): Html =>
  html`<ul class="suggestions">${suggestions.map(
    ({ a, b, percent, reason }) => html`<li data-row><span>${projectBadge(a.slug)} ${projectBadge(b.slug)}</span>
<span class="percent"><meter min="0" max="100" value="${percent}" aria-label="How sure: ${percent} %"></meter> ${percent} %</span><span class="why">${reason}</span>${
      visit.steers &&
      form(
        visit,
        at(a.slug, 'related'),
        html`<input type="hidden" name="other" value="${b.slug}"><button class="quiet" name="decision" value="confirm" aria-label="Confirm Link of ${slugName(a.slug)} and ${slugName(b.slug)}">Confirm Link</button> <button class="quiet" name="decision" value="dismiss" aria-label="Dismiss the link of ${slugName(a.slug)} and ${slugName(b.slug)}">Dismiss</button>`,
      )
    }</li>`,
  )}</ul>`
