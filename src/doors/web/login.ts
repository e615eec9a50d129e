/** The page to log in: the operator's token, or a code from the command line, becomes a cookie (web.login.cookie). */
import { type Html, html } from './html.ts'
import { proof } from './layout.ts'
import type { View } from './page.ts'
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
        ? html`<code>parley token show</code> prints the token, where HTTP_BEARER_TOKEN is not set.`
        : html`There is no token (<code>parley token new</code> makes one): whoever is on this machine needs no login.`
    } Whoever can read the storage folder of Parley gets a code by <code>parley login</code>.</p>
<button class="primary">Log in</button></form>`
  }
}
