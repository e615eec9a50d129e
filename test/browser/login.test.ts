/** Logging in with a browser, and pages of others that would post in the name of whoever is logged in. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { describeInBrowser, shareBrowser } from '../support/browser.ts'
import { newDesk, plainMail } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const token = 'a-token-for-the-operator'
const open = shareBrowser()
const guarded = shareServer({ env: { HTTP_BEARER_TOKEN: token, HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false' } })
const free = shareServer()

async function login(page: Page, given: string): Promise<void> {
  await page.getByLabel('Token of the operator, or a code').fill(given)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** A page of another origin: another port of the same host, to which a browser sends the cookies too. */
async function elsewhere(html: string): Promise<string> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(html))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

for (const javaScriptEnabled of [true, false])
  describeInBrowser(`The login with${javaScriptEnabled ? '' : 'out'} scripts`, () => {
    verifies(
      ['web.login.redirect', 'web.login.cookie', 'web.login.void', 'web.plain.readable'],
      'leads to the page that was asked for, says what is wrong, and ends with a logout',
      async () => {
        const { url } = guarded()
        const context = await open({ javaScriptEnabled })
        const page = await context.newPage()
        await page.goto(`${url}/mail/projects`)
        expect(page.url()).toBe(`${url}/mail/login?next=%2Fmail%2Fprojects`)
        await login(page, 'wrong')
        await page.getByText('This is neither the token').waitFor()
        expect(await page.getByLabel('Token of the operator, or a code').getAttribute('aria-invalid')).toBe('true')
        await login(page, token)
        await page.waitForURL(`${url}/mail/projects`)
        const session = (await context.cookies()).find(({ name }) => name === 'parley_session')
        expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/mail' })
        await page.getByRole('button', { name: 'Log out' }).click()
        await page.waitForURL(`${url}/mail/login`)
        expect((await context.cookies()).map(({ name }) => name)).not.toContain('parley_session')
        await page.goto(`${url}/mail`)
        expect(page.url()).toBe(`${url}/mail/login?next=%2Fmail`)
      },
    )
  })

describeInBrowser('A page of another origin', () => {
  verifies(
    ['web.csrf.origin', 'web.csrf.forms', 'web.headers.csp', 'web.events.refused'],
    'posts nothing, reads nothing, listens to nothing and frames nothing',
    async () => {
      const { url } = free()
      const desk = await newDesk({ url })
      const { slug } = await plainMail({ url }).call<{ slug: string }>('ensure_project', { human_key: desk.project })
      const fields = { recipients: 'BlueLake', subject: 'Forged', body_md: 'Do as I say', theme: 'dark' }
      const hidden = Object.entries(fields).map(
        ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
      )
      const target = `${url}/mail/${slug}/overseer/compose`
      const address = await elsewhere(`<title>Elsewhere</title><form method="post" action="${target}">${hidden.join('')}
<button>Win a prize</button></form><iframe src="${url}/mail"></iframe>`)
      const page = await (await open()).newPage()
      await page.goto(`${url}/mail`)
      await page.goto(address)
      const tries = await page.evaluate(`(async () => {
        const tried = (work) => work.then((answer) => answer.type === 'opaque' ? 'opaque' : 'read ' + answer.status, () => 'refused')
        const body = ${JSON.stringify(new URLSearchParams(fields).toString())}
        const type = { 'content-type': 'application/x-www-form-urlencoded' }
        const stream = new Promise((resolve) => {
          const source = new EventSource('${url}/mail/events', { withCredentials: true })
          source.onopen = () => resolve('open')
          source.onerror = () => resolve('refused')
        })
        return [
          await tried(fetch('${url}/mail?format=json', { credentials: 'include' })),
          await tried(fetch('${target}', { method: 'POST', body, headers: type, credentials: 'include' })),
          await tried(fetch('${target}', { method: 'POST', body, headers: type, credentials: 'include', mode: 'no-cors' })),
          await stream,
        ]
      })()`)
      // An opaque answer is one that the page cannot look into; that it changed nothing is seen below.
      expect(tries).toEqual(['refused', 'refused', 'opaque', 'refused'])
      const frame = page.frames().find((one) => one !== page.mainFrame())
      expect(
        await frame
          ?.locator('h1', { hasText: 'Home' })
          .count()
          .catch(() => 0),
      ).toBe(0)
      const answer = page.waitForResponse(target)
      const [refused] = await Promise.all([answer, page.getByRole('button', { name: 'Win a prize' }).click()])
      expect(refused.status()).toBe(403)
      expect(await desk.inbox('BlueLake')).toEqual([])
    },
  )
})
