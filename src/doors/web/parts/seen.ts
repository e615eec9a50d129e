/** The button that ends what is new: everything there is counts as seen. */
import { type Html, html } from '../html.ts'
import { proof } from '../layout.ts'
import type { Visit } from '../site.ts'

export const allSeen = ({ csrf, path }: Visit): Html =>
  html`<form class="acts" method="post" action="/mail/seen">${proof(csrf)}<input type="hidden" name="next" value="${path}"><button class="quiet">Mark all as seen</button></form>`
