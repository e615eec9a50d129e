/** The pages without scripts: everything can be read, and a person writes by forms alone. */
import { expect } from 'vitest'
import { describeInBrowser, phone, shareBrowser, shareSeeded } from '../support/browser.ts'
import { plainMail } from '../support/mail.ts'
import { folders, seedHub } from '../support/seeded.ts'
import { pagesOf } from '../support/seeded-pages.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => seedHub(hub, clock, Date.now()))

const openPlain = () => open({ javaScriptEnabled: false })

describeInBrowser('Without scripts', () => {
  verifies('web.plain.readable', 'every page has its heading, its content and its links', async () => {
    const { url } = parley()
    const page = await (await openPlain()).newPage()
    for (const [name, path] of Object.entries(await pagesOf(url))) {
      const answer = await page.goto(url + path)
      expect([name, answer?.status()]).toEqual([name, name === 'missing' ? 404 : 200])
      expect(await page.locator('h1').isVisible(), name).toBe(true)
      const text = (await page.locator('main').textContent()) ?? ''
      expect(text.replaceAll(/\s+/g, ' ').length, name).toBeGreaterThan(name === 'missing' ? 40 : 60)
    }
  })

  verifies('web.plain.readable', 'a message is composed: a fault, a preview, and sent', async () => {
    const { url } = parley()
    const page = await (await openPlain()).newPage()
    const { compose = '' } = await pagesOf(url)
    await page.goto(url + compose)
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await page.getByRole('textbox', { name: 'Subject' }).fill('Stop the backfill')
    await page.getByRole('textbox', { name: 'Message, in Markdown' }).fill('It is **too fast**.')
    await press('Send')
    expect(await page.locator('.fault').count()).toBe(1)
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('Stop the backfill')
    await page.getByRole('checkbox', { name: 'BlueLake' }).check()
    await press('Preview')
    expect(await page.getByRole('region', { name: 'Preview' }).textContent()).toContain('MESSAGE FROM HUMAN OVERSEER')
    expect(await page.getByRole('checkbox', { name: 'BlueLake' }).isChecked()).toBe(true)
    const inbox = () =>
      plainMail({ url }).call<{ subject: string }[]>('fetch_inbox', {
        project_key: folders.backend,
        agent_name: 'BlueLake',
        limit: 50,
      })
    const subjects = async () => (await inbox()).map(({ subject }) => subject)
    expect(await subjects()).not.toContain('Stop the backfill')
    await press('Send')
    await page.getByText('The message is sent.').waitFor()
    expect(await page.locator('h1').textContent()).toContain('Stop the backfill')
    expect(await subjects()).toContain('Stop the backfill')
  })

  verifies('web.plain.readable', 'a thread is answered', async () => {
    const { url } = parley()
    const page = await (await openPlain()).newPage()
    const { thread = '' } = await pagesOf(url)
    await page.goto(url + thread)
    await page.locator('#body_md').fill('Go on, but slowly.')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Your answer is sent.').waitFor()
    expect(await page.locator('article').last().textContent()).toContain('Go on, but slowly.')
  })

  verifies('web.looks.phone', 'the menu of a phone opens and leads on', async () => {
    const { url } = parley()
    const page = await (await open({ javaScriptEnabled: false, viewport: phone })).newPage()
    await page.goto(`${url}/mail`)
    const link = page.locator('nav.side').getByRole('link', { name: 'Projects', exact: true })
    expect(await link.isVisible()).toBe(false)
    await page.locator('header summary').click()
    await link.click()
    await page.waitForURL(`${url}/mail/projects`)
  })
})
