/** `/mail/{project}/attachments`: messages that carry files, with thumbnails. */
import { z } from 'zod'
import { listAttached } from '../../../core/pages/attachments.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { attached } from '../parts/attached.ts'
import { empty } from '../parts/empty.ts'
import { pager } from '../parts/pager.ts'
import { projectHead } from '../parts/project-head.ts'
import { row } from '../parts/rows.ts'
import { limit, place } from '../query.ts'
import { nextUrl, toMessage } from '../shapes.ts'
import { at, urlWith } from '../site.ts'

export const page = definePage({
  query: z.object({ before: place, limit }),
  async load({ hub, caller }, wish, params) {
    const { slug } = await needProject(hub, caller, part(params, 'project'))
    return { slug, ...(await listAttached(hub, caller, slug, wish)) }
  },
  json: ({ data: { items, next }, visit }) => ({ messages: items.map(toMessage), next: nextUrl(visit, next) }),
  view: ({ data: { slug, items, next }, query: { before }, visit }) => ({
    title: `Attachments of ${slug}`,
    project: slug,
    up: at(slug),
    watch: { project: slug },
    main: html`${projectHead(visit, { project: slug, title: 'Attachments', tab: 'attachments' })}
${
  items.length === 0
    ? empty('No attachment yet', 'Files and images that agents send with attachment_paths stand here.')
    : html`<ul class="rows">${items.map(
        (message) =>
          html`${row(visit, message, { home: slug })}<li class="files">${attached(visit, message.project, message.attachments)}</li>`,
      )}</ul>`
}${pager({ older: nextUrl(visit, next), newer: before === undefined ? null : urlWith(visit, { before: undefined }) })}`,
  }),
})
