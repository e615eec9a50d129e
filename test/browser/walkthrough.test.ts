/** Two projects find each other: suggested, confirmed, contact asked for and approved on the pages, and then mail flows. */
import { expect } from 'vitest'
import { describeInBrowser, shareBrowser } from '../support/browser.ts'
import { type Message, plainMail, type Receipt } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareServer()

const [backend, frontend] = ['/srv/repos/shop-backend', '/srv/repos/shop-frontend']

describeInBrowser('A person', () => {
  verifies(
    ['web.related.judged', 'web.related.decided', 'web.contacts.decided'],
    'links two projects and lets their agents write to each other',
    async () => {
      const { url } = parley()
      const { call } = plainMail({ url })
      const agent = { program: 'claude-code', model: 'opus-5' }
      await call('register_agent', { ...agent, project_key: backend, name: 'GreenCastle' })
      const { slug } = await call<{ slug: string }>('ensure_project', { human_key: frontend })
      await call('register_agent', { ...agent, project_key: frontend, name: 'BlueLake' })
      await call('set_contact_policy', { project_key: frontend, agent_name: 'BlueLake', policy: 'contacts_only' })
      const address = `BlueLake@${slug}`
      const send = (subject: string) =>
        call<Receipt>('send_message', {
          project_key: backend,
          sender_name: 'GreenCastle',
          to: [address],
          subject,
          body_md: 'The total becomes an object.',
        })
      const page = await (await open()).newPage()

      // 1. Suggested, without a request that waits for it; 2. confirmed: badges on both, and no permission.
      const confirm = page.getByRole('button', { name: /^Confirm Link/ })
      await expect
        .poll(
          async () => {
            await page.goto(`${url}/mail`)
            return confirm.count()
          },
          { timeout: 10_000, interval: 250 },
        )
        .toBe(1)
      await confirm.click()
      await page.getByText('The projects are linked. Agents still ask for contact.').waitFor()
      expect(await confirm.count()).toBe(0)
      // In place: the page is where it was.
      expect(await page.getByText('No other projects look related.').count()).toBe(0)
      expect(page.url()).toBe(`${url}/mail`)
      expect(await page.locator('.siblings a').allTextContents()).toEqual(
        expect.arrayContaining(['shop-backend', 'shop-frontend']),
      )
      const stopped = await send('Too early').catch((error: { code: string }) => error)
      expect(stopped).toMatchObject({ code: 'CONTACT_REQUIRED' })

      // 3. The agent asks; 4. the person approves, on the page of the project that was asked.
      await call('request_contact', {
        project_key: backend,
        from_agent: 'GreenCastle',
        to_agent: 'BlueLake',
        to_project: frontend,
        reason: 'The v2 API',
      })
      await page.goto(`${url}/mail/${slug}`)
      await page.locator('main').getByRole('link', { name: 'Contacts' }).click()
      const asked = page.locator('tr', { hasText: 'The v2 API' })
      expect(await asked.textContent()).toContain('pending')
      await asked.getByRole('link', { name: /^Approve/ }).click()
      await asked.getByRole('button', { name: /^Approve now/ }).click()
      await page.getByText('The contact is approved.').waitFor()
      expect(await asked.textContent()).toContain('approved')

      // 5. Mail flows, and the page that is open shows it.
      const stream = page.waitForResponse((response) => response.url().includes('/mail/events'))
      await Promise.all([page.goto(`${url}/mail/${slug}/inbox/BlueLake`), stream])
      await send('Now it flows')
      await page.locator('main').getByText('Now it flows').waitFor()
      const mail = await call<Message[]>('fetch_inbox', { project_key: frontend, agent_name: 'BlueLake' })
      expect(mail.map(({ subject }) => subject)).toContain('Now it flows')
    },
  )
})
