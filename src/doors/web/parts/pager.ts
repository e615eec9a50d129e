/** The way to older and newer pages of a list. */
import { type Html, html } from '../html.ts'

export function pager({ older, newer }: { older: string | null; newer?: string | null | undefined }): Html | undefined {
  if (older === null && (newer ?? null) === null) return undefined
  return html`<nav class="pager" aria-label="Pages"><span>${newer != null && html`<a class="button" rel="prev" href="${newer}">Newer</a>`}</span><span>${
    older !== null && html`<a class="button" rel="next" href="${older}">Older</a>`
  }</span></nav>`
}
