/** One line of the list of what needs a person: what it is, since when, and what can be done about it in place. */
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import { at, urlWith, type Visit, withQuery } from '../site.ts'
import { disc, type Named } from './people.ts'

interface Line {
  readonly id: string
  readonly kind: string
  readonly who: Named
  readonly says: Html
  readonly more?: Html | undefined | false
  readonly acts: Html | undefined | false
  readonly when: Html | undefined | false
}

export const line = (visit: Visit, { id, kind, who, says, more, acts, when }: Line): Html =>
  html`<li class="need" id="need-${id}">${disc(visit, who)}<div class="says"><p dir="auto"><span class="badge">${kind}</span> ${says}</p>${more && html`<p class="soft">${more}</p>`}</div><span class="when">${when}</span><div class="acts">${acts}</div></li>`

/** A form that leads back to this page. */
export const form = (visit: Visit, action: string, fields: Html): Html =>
  html`<form method="post" action="${action}">${proof(visit.csrf)}<input type="hidden" name="next" value="${urlWith(visit, { confirm: undefined, done: undefined, undo: undefined })}">${fields}</form>`

export const write = (visit: Visit, { name, project }: Named): Html | false =>
  visit.steers &&
  html`<a class="button small" href="${withQuery(at(project, 'overseer', 'compose'), { to: name })}">Write<span class="visually-hidden"> to ${name}</span></a>`

/** An act that cannot be taken back is asked once, on the same line. */
export const asked = (visit: Visit, id: string): boolean => visit.query.get('confirm') === id

/** The link that asks, and the one that lets it be. `row`: the id of the line. */
export const askFirst = (visit: Visit, id: string, label: Html, row = `need-${id}`): Html =>
  html`<a class="button small" href="${urlWith(visit, { confirm: id, done: undefined, undo: undefined })}#${row}">${label}</a>`
export const letBe = (visit: Visit, id: string, label: string, row = `need-${id}`): Html =>
  html`<a class="button small" href="${urlWith(visit, { confirm: undefined })}#${row}">${label}</a>`
