/** The preamble of a message from people, folded: a person opens it, agents have read it (web.overseer.folded). */
import { ownWords, preamble } from '../../../base/preamble.ts'
import { type Html, html } from '../html.ts'

interface Written {
  readonly from: { readonly name: string }
  readonly body: string | undefined
}

export const foldedPreamble = ({ from, body = '' }: Written): Html | undefined =>
  ownWords(from.name, body) === body
    ? undefined
    : html`<details class="preamble"><summary>Agents read the overseer preamble first</summary><pre class="small">${preamble.trim()}</pre></details>`
