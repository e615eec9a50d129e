/** `/mail/projects`: all projects with their figures. */
import { z } from 'zod'
import { listPageProjects } from '../../../core/pages/projects.ts'
import { html } from '../html.ts'
import { definePage } from '../page.ts'
import { connectLines, empty } from '../parts/empty.ts'
import { pager } from '../parts/pager.ts'
import { projectTable } from '../parts/projects.ts'
import { limit, place, text } from '../query.ts'
import { nextUrl, toProject } from '../shapes.ts'

export const page = definePage({
  query: z.object({ q: text, after: place, limit }),
  load: ({ hub, caller }, wish) => listPageProjects(hub, caller, wish),
  json: ({ data, visit }) => ({ projects: data.items.map(toProject), next: nextUrl(visit, data.next, 'after') }),
  view: ({ data: { items, next }, query: { q }, visit }) => ({
    title: 'Projects',
    here: 'projects',
    up: '/mail',
    watch: {},
    main: html`<div class="head"><h1>Projects</h1><form class="filters" action="/mail/projects"><label class="visually-hidden" for="named">Part of the name</label><input id="named" type="search" name="q" value="${q ?? ''}" placeholder="Name or folder"></form></div>
${
  items.length > 0
    ? projectTable(visit, items)
    : q === undefined
      ? connectLines(visit)
      : empty('No such project', 'None has this in its name or folder.')
}${pager({ older: nextUrl(visit, next, 'after') })}`,
  }),
})
