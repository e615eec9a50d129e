/** Errors as pages: what is wrong, in plain words, and the way back. */
import { asHubError, type HubError } from '../../base/errors.ts'
import { fromFastify, statusOf } from '../http/refusal.ts'
import { html } from './html.ts'
import type { View } from './page.ts'
import { type Visit, withQuery } from './site.ts'

const titles: Readonly<Record<number, string>> = {
  400: 'That cannot be read',
  403: 'Not allowed',
  404: 'Not found',
  413: 'Too large',
  415: 'That cannot be read',
  429: 'Too many tries',
  503: 'Busy',
}

/** The server runs, and has nothing to show: as its readiness says. */
const hasFailed = ({ code }: HubError): boolean => code === 'STORAGE_FAILED'

export function readError(thrown: unknown): { readonly error: HubError; readonly status: number } {
  const error: HubError = fromFastify(thrown) ?? asHubError(thrown)
  return { error, status: hasFailed(error) ? 503 : statusOf(error) }
}

/** The hint of an error names calls for agents; people get a way to go on. Only a person can mend the storage. */
export function errorView({ error, status }: { error: HubError; status: number }, visit: Visit): View {
  const failed = hasFailed(error)
  const title = failed ? 'The storage has failed' : (titles[status] ?? 'Something went wrong')
  const login = status === 403 && visit.guarded && !visit.signedIn
  return {
    title,
    status,
    main: html`<div class="narrow problem"><h1>${title}</h1><p>${error.message}</p>${failed && html`<p>${error.hint ?? ''}</p>`}
<p class="ways">${login && html`<a class="button primary" href="${withQuery('/mail/login', { next: visit.path })}">Log in</a>`}<a class="button" href="/mail">Home</a><a class="button" href="/mail/projects">Projects</a><a class="button" href="/mail/search">Search</a></p></div>`,
  }
}
