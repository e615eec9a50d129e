/** The search form: one field with the whole language of search, and the filters for those who do not know it. */
import { type Html, html } from '../html.ts'
import { at } from '../site.ts'

interface Searched {
  readonly project?: string | undefined
  readonly q?: string | undefined
  readonly scope?: string | undefined
  readonly order?: string | undefined
  readonly boost?: boolean | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly importance?: string | undefined
  readonly unread?: boolean | undefined
  readonly attachments?: boolean | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const choice = (
  name: string,
  label: string,
  value: string | undefined,
  options: readonly (readonly [string, string])[],
): Html =>
  html`<label>${label}<select name="${name}">${options.map(
    ([word, says]) => html`<option value="${word}"${word === (value ?? '') && html` selected`}>${says}</option>`,
  )}</select></label>`

const field = (name: string, label: string, value: string | undefined, type = 'text'): Html =>
  html`<label>${label}<input type="${type}" name="${name}" value="${value ?? ''}" size="14"></label>`

const check = (name: string, label: string, value: boolean | undefined): Html =>
  html`<label class="check"><input type="checkbox" name="${name}" value="1"${value && html` checked`}>${label}</label>`

export function searchForm(asked: Searched): Html {
  const { project, q, scope, order, boost, from, to, importance, unread, attachments, since, until } = asked
  const filtered = [scope, order, boost, from, to, importance, unread, attachments, since, until].some(Boolean)
  return html`<form class="searching" role="search" action="${project === undefined ? '/mail/search' : at(project, 'search')}" aria-label="Search messages">
<div class="line"><label class="visually-hidden" for="q">Words to look for</label><input id="q" name="q" type="search" value="${q ?? ''}" placeholder="Words, &quot;a phrase&quot;, from:GreenCastle, is:unread, after:2026-11-01" autocomplete="off"><button class="primary">Search</button></div>
<details${filtered && html` open`}><summary>Filters</summary><div class="more-fields">${choice(
    'scope',
    'Look in',
    scope,
    [
      ['', 'Subject and body'],
      ['subject', 'Subject'],
      ['body', 'Body'],
    ],
  )}${choice('order', 'Order', order, [
    ['', 'Best first'],
    ['time', 'Newest first'],
  ])}${choice('importance', 'Importance', importance, [
    ['', 'Any'],
    ['urgent', 'Urgent'],
    ['high', 'High'],
    ['normal', 'Normal'],
    ['low', 'Low'],
  ])}${field('from', 'From', from)}${field('to', 'To', to)}${field('since', 'Since', since, 'date')}${field('until', 'Until', until, 'date')}${check('boost', 'Boost subject', boost)}${check('unread', 'Unread by agents', unread)}${check('attachments', 'With attachments', attachments)}</div></details>
</form>`
}
