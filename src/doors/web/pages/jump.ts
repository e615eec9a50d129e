/** `/mail/jump`: threads, agents, projects and actions by name; the palette asks here as somebody types. */
import { z } from 'zod'
import { slugName } from '../../../base/names.ts'
import { findPlaces } from '../../../core/pages/jump.ts'
import { html } from '../html.ts'
import { definePage } from '../page.ts'
import { empty } from '../parts/empty.ts'
import { inboxOf, threadTitle } from '../parts/people.ts'
import { threadUrl } from '../parts/rows.ts'
import { text } from '../query.ts'
import { at, type Visit, withQuery } from '../site.ts'

interface Place {
  readonly name: string
  readonly kind: string
  readonly href: string
}

export const page = definePage({
  query: z.object({ q: text, project: text }),
  async load(visit, { q = '', project }) {
    const { threads, agents, projects } = await findPlaces(visit.hub, visit.caller, q)
    const places: readonly Place[] = [
      ...projects.map((slug) => ({ name: slugName(slug), kind: 'project', href: at(slug) })),
      ...agents.map((agent) => ({
        name: agent.name,
        kind: `agent · ${slugName(agent.project)}`,
        href: inboxOf(agent),
      })),
      ...threads.map((thread) => ({
        name: thread.sealed ? 'Sealed thread' : threadTitle(thread.title ?? thread.subject, thread.thread),
        kind: `${thread.topic === undefined ? (thread.thread ?? `#${thread.id}`) : 'topic'} · ${slugName(thread.project)}`,
        href: threadUrl(thread),
      })),
    ]
    const own = actions(visit, project).filter(({ name }) => fits(name, q))
    // Names that begin with the words come first, of whatever kind they are.
    const begins = ({ name }: Place): number => (name.toLowerCase().startsWith(q.trim().toLowerCase()) ? 0 : 1)
    const found = q.trim() === '' ? [...own, ...places] : [...places, ...own].sort((a, b) => begins(a) - begins(b))
    return q.trim() === '' ? found : [...found, searchFor(q, project)]
  },
  json: ({ data }) => ({ places: data }),
  view: ({ data, query: { q = '' } }) => ({
    title: 'Jump to',
    up: '/mail',
    main: html`<div class="head"><h1>Jump to</h1></div>
<form class="searching" action="/mail/jump"><div class="line"><label class="visually-hidden" for="q">Thread, agent, project or action</label><input id="q" name="q" type="search" value="${q}" autocomplete="off" placeholder="Thread, agent, project or action"><button class="primary">Find</button></div></form>
${data.length === 0 ? empty('Nothing matches', 'Try a part of the name.') : html`<ul class="places">${data.map(({ name, kind, href }) => html`<li data-row><a class="subject" href="${href}"><span dir="auto">${name}</span><span class="kind">${kind}</span></a></li>`)}</ul>`}`,
  }),
})

const fits = (name: string, q: string): boolean =>
  q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word))

const searchFor = (q: string, project: string | undefined): Place => ({
  name: `Search for ${q.trim()}`,
  kind: 'search',
  href: withQuery(project === undefined ? '/mail/search' : at(project, 'search'), { q }),
})

/** The actions of the pages, in the project of the page that asks where there is one. */
function actions({ steers }: Visit, project: string | undefined): readonly Place[] {
  const action = (name: string, href: string): Place => ({ name, kind: 'action', href })
  const inProject = (part: string, else_: string): string => (project === undefined ? else_ : at(project, part))
  return [
    ...(steers
      ? [
          action('Send message', project === undefined ? '/mail/overseer/compose' : at(project, 'overseer', 'compose')),
          action('Approve or deny contact', inProject('contacts', '/mail/attention')),
          action('Release lease', inProject('file_reservations', '/mail/attention')),
          action('Remind agents of an acknowledgement', '/mail/attention'),
          action('Invite an agent', '/mail/invitations'),
        ]
      : []),
    action('Needs you', '/mail/attention'),
    action('Board of agents', '/mail/agents'),
    action('All threads', '/mail/unified-inbox'),
    action('Search', inProject('search', '/mail/search')),
  ]
}
