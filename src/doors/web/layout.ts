/** The frame around every page: header, the column of boards and projects, the page itself, and what the keys do. */
import { overseer, slugName } from '../../base/names.ts'
import { isAnonymous } from '../../core/access/rules.ts'
import { bareFrame, type Frame } from './frame.ts'
import { type Html, html } from './html.ts'
import type { View } from './page.ts'
import { type Icon, icon } from './parts/icons.ts'
import { at, type Visit, withQuery } from './site.ts'

export function pageDocument(view: View, visit: Visit, frame: Frame): Html {
  const { asset, theme } = visit
  const answers = frame.answers.reduce((sum, { unread }) => sum + unread, 0)
  const waiting = frame.fresh.total > 0 ? `(${newCount(frame.fresh.total, frame.fresh.capped)}) ` : ''
  // A visitor without a login is not shown links that all lead to the login.
  const bare = frame === bareFrame
  return html`<!doctype html>
<html lang="en" data-theme="${theme}" data-zone="${visit.zone}">
<head>
<meta charset="utf-8">
<title>${waiting}${view.title} · Parley</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${asset('icons.svg')}">
<link rel="stylesheet" href="${asset('style.css')}">
<script type="module" src="${asset('page.js')}"></script>
</head>
<body${bare ? html` class="bare"` : view.inspector && html` class="inspected"`}${view.up && html` data-up="${view.up}"`} data-keys="${visit.shortcuts ? 'on' : 'off'}">
<a class="skip" href="#main">Skip to the page</a>
<header class="top">${!bare && menu(visit)}${brand(visit)}${!bare && reach(view, visit, frame, answers)}</header>
<div class="columns">
${!bare && sidebar(view, visit, frame)}
<main id="main" tabindex="-1"${watching(view, visit)}>
${view.main}
</main>
${view.inspector && html`<aside class="inspector" id="inspector" aria-label="About this thread">${view.inspector}</aside>`}
</div>
<div id="live" class="live" role="status" aria-live="polite"></div>
${visit.shortcuts && help}
${jump(view)}
</body>
</html>`
}

/** A form that is shown again stays as it is. */
function watching({ watch }: View, { typed, since }: Visit): Html | undefined | false {
  return watch && typed === undefined && html` data-events="${withQuery('/mail/events', { ...watch, since })}"`
}

const menu = (visit: Visit): Html =>
  html`<details class="menu"><summary aria-label="Menu">${icon(visit, 'menu')}</summary></details>`

const brand = ({ asset }: Visit): Html =>
  html`<a class="brand" href="/mail" data-hotkey="g h"><svg class="mark" aria-hidden="true" width="20" height="20"><use href="${asset('icons.svg')}#mark"></use></svg>Parley</a>`

/** The rest of the header: the search, the state of the stream, answers to people, and the account. */
function reach(view: View, visit: Visit, frame: Frame, answers: number): Html {
  return html`<form class="find" role="search" action="${view.project === undefined ? '/mail/search' : at(view.project, 'search')}">
<label class="visually-hidden" for="find">Search${view.project && html` in ${slugName(view.project)}`}</label>
${icon(visit, 'search')}<input id="find" name="q" type="search" autocomplete="off" placeholder="Search${view.project && ` in ${slugName(view.project)}`}" data-hotkey="/">${visit.shortcuts && html`<kbd aria-hidden="true">/</kbd>`}
</form>
<span class="state" id="stream" hidden></span>
<div id="waiting">${answers > 0 && html`<a class="answers" href="${answersAt(frame)}">${answers}<span class="words"> ${answers === 1 ? 'answer' : 'answers'} to you</span></a>`}</div>
${account(visit)}`
}

/** The box of people in the project that has them all; else a search, since each project has a box of its own. */
function answersAt({ answers: [one, other] }: Frame): string {
  if (one !== undefined && other === undefined) return withQuery(at(one.project, 'inbox', overseer), { unread: 1 })
  return withQuery('/mail/search', { to: overseer, unread: 1 })
}

function account(visit: Visit): Html {
  const { path, signedIn, guarded, csrf, caller, marks } = visit
  const { name } = marks.person
  if (signedIn)
    return html`<form class="account" method="post" action="/mail/logout">${proof(csrf)}${name !== undefined && html`<bdi class="author">${name}</bdi> `}<button class="plain">Log out</button></form>`
  if (guarded && isAnonymous(caller))
    return html`<a class="account" href="${withQuery('/mail/login', { next: path })}">Log in</a>`
  return html``
}

/** The hidden field that tells our own forms from forged ones. */
export const proof = (csrf: string): Html => html`<input type="hidden" name="_csrf" value="${csrf}">`

function entry(visit: Visit, { href, name, key, current, count, mark }: Entry): Html {
  return html`<li><a href="${href}"${current && html` aria-current="page"`}${key && html` data-hotkey="${key}"`}>${icon(visit, mark)}<span class="name">${name}</span>${
    count ? html`<span class="count">${count}</span>` : ''
  }</a></li>`
}

interface Entry {
  readonly href: string
  readonly name: string
  readonly mark: Icon
  readonly key?: string
  readonly current?: boolean
  readonly count?: string | undefined
}

/** Of messages that are new to the person who looks; never of deliveries, and never of unread mail of agents (web.new.words). */
const newCount = (fresh: number, capped: boolean): string => (fresh > 99 ? '99+' : `${fresh}${capped ? '+' : ''}`)

const newBadge = (fresh: number, capped: boolean): Html | false =>
  fresh > 0 &&
  html`<span class="count quiet" title="${newCount(fresh, capped)} new to you">${newCount(fresh, capped)}<span class="visually-hidden"> new to you</span></span>`

function sidebar(view: View, visit: Visit, { needs, projects, moreProjects, threads, fresh: { capped } }: Frame): Html {
  const { here, project } = view
  const { searches } = visit.marks
  return html`<nav class="side" aria-label="Boards, projects and threads">
<ul class="boards">
${entry(visit, { href: '/mail', name: 'Home', mark: 'home', current: here === 'home' })}
${entry(visit, { href: '/mail/unified-inbox', name: 'All threads', mark: 'threads', key: project === undefined ? 'g t' : '', current: here === 'inbox' })}
${entry(visit, { href: '/mail/attention', name: 'Needs you', mark: 'alert', key: 'g a', current: here === 'attention', count: needs.count > 0 ? `${needs.count}${needs.more ? '+' : ''}` : undefined })}
${entry(visit, { href: '/mail/agents', name: 'Agents', mark: 'people', key: 'g w', current: here === 'agents' })}
${entry(visit, { href: '/mail/projects', name: 'Projects', mark: 'projects', key: 'g p', current: here === 'projects' })}
${visit.steers && entry(visit, { href: project === undefined ? '/mail/overseer/compose' : at(project, 'overseer', 'compose'), name: 'Send Message', mark: 'compose', key: 'c', current: here === 'compose' })}
${visit.steers && entry(visit, { href: '/mail/invitations', name: 'Invite an agent', mark: 'person', current: here === 'invitations' })}
</ul>
${
  projects.length > 0 &&
  html`<h2>Projects</h2>
<ul class="projects" data-filter>${projects.map(
    ({ slug, fresh }) =>
      html`<li><a href="${at(slug)}"${fresh > 0 && html` class="new"`}${slug === project && html` aria-current="true"`} title="${slug}"><span class="name">${slugName(slug)}</span>${newBadge(fresh, capped)}</a></li>`,
  )}${moreProjects && html`<li><a class="more" href="/mail/projects">All projects</a></li>`}</ul>`
}
${
  threads.length > 0 &&
  html`<h2>Recent threads</h2>
<ul class="recent" data-filter>${threads.map(
    ({ href, subject, fresh }) =>
      html`<li><a href="${href}"${fresh > 0 && html` class="new"`}><span class="name">${subject}</span>${newBadge(fresh, capped)}</a></li>`,
  )}</ul>`
}
${
  searches.length > 0 &&
  html`<h2>Saved searches</h2>
<ul class="saved">${searches.map(({ path, title }) => html`<li><a href="${path}"${isHere(visit, path) && html` aria-current="page"`}>${icon(visit, 'search')}<span class="name">${title}</span></a></li>`)}</ul>`
}
${preferences(visit, project)}
</nav>`
}

const isHere = ({ path, query }: Visit, saved: string): boolean => saved === `${path}?${query}`

function preferences({ csrf, theme, shortcuts, path, query, version }: Visit, project: string | undefined): Html {
  const text = query.toString()
  const back = html`<input type="hidden" name="next" value="${text === '' ? path : `${path}?${text}`}">`
  const option = (value: string, says: string) =>
    html`<button class="plain" name="theme" value="${value}"${value === theme && html` aria-pressed="true"`}>${says}</button>`
  return html`<form class="preferences" method="post" action="/mail/settings">${proof(csrf)}${back}
<span class="set" role="group" aria-label="Theme">${option('auto', 'Auto')}${option('light', 'Light')}${option('dark', 'Dark')}</span>
<button class="plain" name="shortcuts" value="${shortcuts ? 'off' : 'on'}">Shortcuts ${shortcuts ? 'on' : 'off'}</button>
<button type="button" class="plain" id="notify" hidden>Notifications off</button>${project && html`<button type="button" class="plain" id="mute" data-project="${project}" hidden>Mute project</button>`}
<span class="version">Parley ${version}</span>
</form>`
}

const keys: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['j k', 'Next, previous'],
  ['o', 'Open'],
  ['u', 'Back to where you came from'],
  ['n', 'Next that is new'],
  ['x', 'Choose a line, for e'],
  ['e', 'Mark as read'],
  ['z', 'Undo'],
  ['r', 'Reply'],
  ['a', 'Approve'],
  ['l', 'Release a lease'],
  ['c', 'Compose'],
  ['g h', 'Home'],
  ['g p', 'Projects'],
  ['g a', 'Needs you'],
  ['g w', 'Agents'],
  ['g t', 'Threads'],
  ['Ctrl K', 'Jump to a thread, agent, project or action'],
  ['?', 'This list'],
]

const help = html`<dialog id="help" aria-labelledby="help-title"><form method="dialog"><h2 id="help-title">Keys</h2>
<dl>${keys.map(([key, says]) => html`<div><dt>${key.split(' ').map((one) => html`<kbd>${one}</kbd>`)}</dt><dd>${says}</dd></div>`)}</dl>
<button>Close</button></form></dialog>`

const jump = ({ project }: View): Html =>
  html`<dialog id="jump" aria-label="Jump to"${project && html` data-project="${project}"`}><form method="dialog"><label class="visually-hidden" for="jump-to">Thread, agent, project or action</label>
<input id="jump-to" type="search" autocomplete="off" placeholder="Thread, agent, project or action" role="combobox" aria-expanded="true" aria-controls="jump-list" aria-autocomplete="list"><ul id="jump-list" role="listbox" aria-label="Matches"></ul><p id="jump-none" role="status" hidden>Nothing matches.</p></form></dialog>`
