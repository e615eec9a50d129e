/** `/mail/{project}/file_reservations`: who holds which files, and who did. */
import { z } from 'zod'
import { listPageLeases } from '../../../core/pages/leases.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { faultText } from '../parts/fields.ts'
import { leaseTable } from '../parts/leases.ts'
import { pager } from '../parts/pager.ts'
import { projectHead } from '../parts/project-head.ts'
import { limit, oneOf, place, text } from '../query.ts'
import { nextUrl, toLease } from '../shapes.ts'
import { at, urlWith } from '../site.ts'

export const page = definePage({
  query: z.object({ state: oneOf(['active', 'all']).default('all'), agent: text, before: place, limit }),
  async load({ hub, caller }, wish, params) {
    const { slug } = await needProject(hub, caller, part(params, 'project'))
    return { slug, ...(await listPageLeases(hub, caller, slug, wish)) }
  },
  json: ({ data: { items, next }, visit }) => ({ file_reservations: items.map(toLease), next: nextUrl(visit, next) }),
  view: ({ data: { slug, items, next }, query: { state, agent, before }, visit }) => ({
    title: `File reservations of ${slug}`,
    project: slug,
    up: at(slug),
    watch: { project: slug },
    main: html`${projectHead(visit, { project: slug, title: 'File Reservations', tab: 'file_reservations' })}
<div class="filters"><a class="pill" href="${urlWith(visit, { state: undefined, before: undefined, done: undefined })}"${state === 'all' && html` aria-current="true"`}>All</a><a class="pill" href="${urlWith(visit, { state: 'active', before: undefined, done: undefined })}"${state === 'active' && html` aria-current="true"`}>Active</a>${
      agent !== undefined &&
      html`<a class="pill" aria-current="true" href="${urlWith(visit, { agent: undefined, before: undefined })}">Of ${agent} <span aria-hidden="true">×</span></a>`
    }</div>${faultText(visit, 'release')}
${items.length === 0 ? empty('No reservation', 'Agents reserve paths with file_reservation_paths before they edit, so that others keep away.') : leaseTable(visit, slug, items, { forms: true })}
${pager({ older: nextUrl(visit, next), newer: before === undefined ? null : urlWith(visit, { before: undefined }) })}`,
  }),
})
