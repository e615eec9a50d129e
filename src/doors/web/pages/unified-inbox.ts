/** `/mail/unified-inbox`: all threads of all projects, a line each: the newest message, and how many there are. */
import { z } from 'zod'
import { listAllThreads } from '../../../core/pages/unified-inbox.ts'
import { html } from '../html.ts'
import { definePage } from '../page.ts'
import { connectLines } from '../parts/empty.ts'
import { pager } from '../parts/pager.ts'
import { row, rows, sealedAsOne, sinceLine, threadUrl } from '../parts/rows.ts'
import { allSeen } from '../parts/seen.ts'
import { limit, place, text } from '../query.ts'
import { nextUrl, toMessage } from '../shapes.ts'

export const page = definePage({
  query: z.object({ project: text, before: place, limit }),
  load: ({ hub, caller }, wish) => listAllThreads(hub, caller, wish),
  json: ({ data, visit }) => ({
    messages: data.items.map((item) => ({ ...toMessage(item), count: item.count })),
    next: nextUrl(visit, data.next),
  }),
  view: ({ data, visit, query }) => ({
    title: 'All threads',
    here: 'inbox',
    watch: { project: query.project },
    main: html`<div class="head"><h1>All threads</h1>${allSeen(visit)}</div>
${
  data.items.length === 0
    ? connectLines(visit)
    : rows(
        sinceLine(visit, sealedAsOne(data.items), (item) =>
          row(visit, item, { href: threadUrl(item), count: item.count }),
        ),
      )
}${pager({ older: nextUrl(visit, data.next), newer: query.before === undefined ? null : '/mail/unified-inbox' })}`,
  }),
})
