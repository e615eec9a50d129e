/** Fields of a form that is shown again: what was typed, and what is wrong with it. */
import { type Html, html } from '../html.ts'
import type { Visit } from '../site.ts'

/** A leading line break of a textarea is lost: one more keeps it. */
export const typedIn = ({ typed, query }: Visit, name: string): string =>
  typed?.fields.get(name) ?? query.get(name) ?? ''

/** For the attributes of a field. */
export const faultOf = ({ typed }: Visit, name: string): Html | undefined =>
  typed?.faults[name] === undefined ? undefined : html` aria-invalid="true" aria-describedby="${name}-fault" autofocus`

/** For beside it. */
export const faultText = ({ typed }: Visit, name: string): Html | undefined =>
  typed?.faults[name] === undefined
    ? undefined
    : html`<p class="fault" id="${name}-fault" role="alert">${typed.faults[name]}</p>`
