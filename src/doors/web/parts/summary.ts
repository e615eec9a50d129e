/** The summary of a thread, as lists of what was said in it. */
import type { ThreadSummary } from '../../../core/threads/summaries.ts'
import { plainly } from '../../../fulltext/plain.ts'
import { type Html, html } from '../html.ts'
import { pathShown } from './people.ts'

export function summaryPart({ overview, keyPoints, decisions, actionItems, openQuestions, llm }: ThreadSummary): Html {
  const list = (title: string, items: readonly string[]) =>
    items.length > 0 &&
    html`<h3>${title}</h3><ul>${items.map((item) => html`<li dir="auto">${pathShown(plainly(item))}</li>`)}</ul>`
  const nothing = [keyPoints, decisions, actionItems, openQuestions].every((items) => items.length === 0)
  return html`<section class="summary" aria-label="Summary"><h2>Summary</h2>${overview && html`<p dir="auto">${pathShown(overview)}</p>`}${list('Key points', keyPoints)}${list('Decisions', decisions)}${list('To do', actionItems)}${list('Open questions', openQuestions)}${
    nothing && overview === undefined && html`<p class="soft">Too little was said to sum up.</p>`
  }${llm?.reason && html`<p class="hint">${llm.reason}</p>`}</section>`
}
