/** `/mail/{project}/threads`: the threads and topics of a project. */
import { z } from 'zod'
import { listThreads } from '../../../core/pages/threads.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { html } from '../html.ts'
import { definePage, part } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { pager } from '../parts/pager.ts'
import { projectHead } from '../parts/project-head.ts'
import { rows } from '../parts/rows.ts'
import { sealedThreads, threadRow } from '../parts/thread-row.ts'
import { limit, oneOf, place, text } from '../query.ts'
import { nextUrl, toThread } from '../shapes.ts'
import { at, urlWith } from '../site.ts'

export const page = definePage({
  query: z.object({
    status: oneOf(['open', 'closed', 'all']).default('all'),
    kind: oneOf(['mail', 'topic']).optional(),
    q: text,
    before: place,
    limit,
  }),
  async load({ hub, caller }, wish, params) {
    const { slug } = await needProject(hub, caller, part(params, 'project'))
    return { slug, ...(await listThreads(hub, caller, slug, wish)) }
  },
  json: ({ data, visit }) => ({
    threads: data.items.map((thread) => toThread(data.slug, thread)),
    next: nextUrl(visit, data.next),
  }),
  view: ({ data, query: { status, kind, q, before }, visit }) => {
    const { slug, items } = data
    const pill = (says: string, on: boolean, changes: Record<string, string | undefined>) =>
      html`<a class="pill" href="${urlWith(visit, { before: undefined, ...changes })}"${on && html` aria-current="true"`}>${says}</a>`
    return {
      title: `Threads of ${slug}`,
      project: slug,
      up: at(slug),
      watch: { project: slug },
      main: html`${projectHead(visit, { project: slug, title: 'Threads', tab: 'threads' })}
<form class="filters" action="${at(slug, 'threads')}">${pill('All', status === 'all' && kind === undefined, { status: undefined, kind: undefined })}${pill('Open', status === 'open', { status: 'open' })}${pill('Closed', status === 'closed', { status: 'closed' })}${pill('Mail', kind === 'mail', { kind: 'mail' })}${pill('Topics', kind === 'topic', { kind: 'topic' })}
<label class="visually-hidden" for="named">Part of the name or subject</label><input id="named" type="search" name="q" value="${q ?? ''}" placeholder="Name or subject"></form>
${items.length === 0 ? empty('No thread here', q === undefined ? 'The first message between two agents begins one; peers of the bus open topics.' : 'None has this in its name or subject.') : rows(sealedThreads(items).map((thread) => threadRow(visit, slug, thread)))}
${pager({ older: nextUrl(visit, data.next), newer: before === undefined ? null : urlWith(visit, { before: undefined }) })}`,
    }
  },
})
