/** `/mail/agents`: the agents of all projects, in order of need. */
import { z } from 'zod'
import { readBoard } from '../../../core/pages/board.ts'
import { html } from '../html.ts'
import { definePage } from '../page.ts'
import { boardTable, toBoardAgent } from '../parts/board.ts'
import { connectLines } from '../parts/empty.ts'
import { sendButton } from '../parts/project-head.ts'
import { limit, text } from '../query.ts'

export const page = definePage({
  query: z.object({ project: text, limit: limit.default(200) }),
  load: ({ hub, caller, mark }, wish) => readBoard(hub, caller, { ...wish, mark }),
  json: ({ data: { agents, more } }) => ({ agents: agents.map(toBoardAgent), has_more: more }),
  view: ({ data: { agents, more }, query: { project }, visit }) => ({
    title: 'Agents',
    here: 'agents',
    up: '/mail',
    watch: { project },
    main: html`<div class="head"><h1>Agents</h1><div class="acts">${agents.length > 0 && sendButton(visit, {})}</div></div>
${agents.length === 0 ? connectLines(visit) : boardTable(visit, agents)}${more && html`<p class="hint">There are more: those that nobody waits for are left out.</p>`}`,
  }),
})
