/** Logging in and out: the operator's token, or a code from the command line, becomes a cookie (web.login.cookie). */
import type { Hub } from '../../core/hub/hub.ts'
import { HttpRefusal } from '../http/refusal.ts'
import { type Html, html } from './html.ts'
import { proof } from './layout.ts'
import type { View } from './page.ts'
import type { Sessions } from './sessions.ts'
import type { Visit } from './site.ts'

/** A path below /mail, else /mail: a login leads nowhere else (web.login.next). */
export function nextOf(next: string | null): string {
  if (next === null || !/^\/mail(?:[/?][^\\\p{Cc}]*)?$/u.test(next)) return '/mail'
  const url = URL.parse(next, 'http://parley.invalid')
  if (url === null || url.host !== 'parley.invalid' || !/^\/mail(\/|$)/.test(url.pathname)) return '/mail'
  return /^\/mail\/log(in|out)/.test(url.pathname) ? '/mail' : url.pathname + url.search
}

export function loginView({ csrf, query, guarded, signedIn }: Visit, fault?: string): View {
  const next = nextOf(query.get('next'))
  return {
    title: 'Log in',
    main: html`<div class="narrow"><h1>Log in</h1>${form()}</div>`,
    ...(fault && { status: 422 }),
  }

  function form(): Html {
    return html`${signedIn && html`<p>You are logged in. <a href="${next}">Go on</a>.</p>`}
<form method="post" action="/mail/login" class="stacked">${proof(csrf)}<input type="hidden" name="next" value="${next}">
<label for="token">Token of the operator, or a code</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${fault && html` aria-invalid="true" aria-describedby="token-fault"`}>
${fault && html`<p class="fault" id="token-fault">${fault}</p>`}
<p class="hint">${
      guarded
        ? 'The token is the value of HTTP_BEARER_TOKEN.'
        : 'No HTTP_BEARER_TOKEN is set: whoever is on this machine needs no login.'
    } Whoever can read the storage folder of Parley gets a code by <code>parley login</code>.</p>
<button class="primary">Log in</button></form>`
  }
}

const tries = { most: 10, ms: 60_000 } as const

/** Wrong tries of the last minute, by where they came from; forgotten when they are old. */
export class Throttle {
  readonly #hub: Hub
  readonly #wrong = new Map<string, number[]>()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** Ten wrong tries a minute; then nobody is let in from there, with the right token neither (web.login.tries). */
  check(peer: string): void {
    if (this.#recent(peer).length >= tries.most)
      throw new HttpRefusal(429, 'There were too many wrong tries. Wait a minute.')
  }

  wrong(peer: string): void {
    if (this.#wrong.size >= 10_000) this.#wrong.clear()
    this.#wrong.set(peer, [...this.#recent(peer), this.#hub.clock.monotonic()])
  }

  #recent(peer: string): number[] {
    const since = this.#hub.clock.monotonic() - tries.ms
    return (this.#wrong.get(peer) ?? []).filter((at) => at > since)
  }
}

/** Whether somebody may come in with this; a code is used up by it. */
export async function admits(sessions: Sessions, given: string): Promise<boolean> {
  if (sessions.isToken(given)) return true
  const code = sessions.readCode(given)
  if (code === undefined || (await sessions.ended.has(code.nonce))) return false
  await sessions.ended.add(code.caller, code.nonce, code.until)
  return true
}
