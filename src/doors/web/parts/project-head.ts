/** The head of the pages of a project: where one is, its pages as tabs, and the way to write to its agents. */
import { slugName } from '../../../base/names.ts'
import { isAnonymous } from '../../../core/access/rules.ts'
import { type Html, html } from '../html.ts'
import { at, type Visit, withQuery } from '../site.ts'
import { icon } from './icons.ts'
import { overseerBadge } from './people.ts'

const tabs = [
  ['overview', 'Overview'],
  ['threads', 'Threads'],
  ['file_reservations', 'File Reservations'],
  ['contacts', 'Contacts'],
  ['attachments', 'Attachments'],
  ['activity', 'Activity'],
  ['search', 'Search'],
] as const

type Tab = (typeof tabs)[number][0]

interface HeadOptions {
  readonly project: string
  readonly title: string | Html
  readonly tab?: Tab
  /** Links and buttons beside the title. */
  readonly acts?: Html | undefined
}

export function projectHead(visit: Visit, { project, title, tab, acts }: HeadOptions): Html {
  return html`<ol class="crumbs"><li><a href="/mail/projects">Projects</a></li>${tab !== 'overview' && html`<li><a href="${at(project)}">${slugName(project)}</a></li>`}</ol>
<div class="head"><h1 dir="auto">${title}</h1><div class="acts">${acts}${sendButton(visit, { project })}</div></div>
<nav class="tabs" aria-label="Pages of the project">${tabs.map(
    ([name, says]) =>
      html`<a href="${name === 'overview' ? at(project) : at(project, name)}"${name === tab && html` aria-current="page"`}${name === 'threads' && html` data-hotkey="g t"`}>${says}</a>`,
  )}</nav>`
}

/** A visitor who may not steer is led to the login, if there is one. */
export function sendButton(
  visit: Visit,
  { project, ...fields }: { project?: string; to?: string; thread_id?: string; subject?: string },
): Html | undefined {
  const path = project === undefined ? at('overseer', 'compose') : at(project, 'overseer', 'compose')
  const href = withQuery(path, fields)
  if (!visit.steers && !(visit.guarded && isAnonymous(visit.caller))) return undefined
  return html`<a class="button primary" href="${visit.steers ? href : withQuery('/mail/login', { next: href })}">${icon(visit, 'compose')}Send Message ${overseerBadge}</a>`
}
