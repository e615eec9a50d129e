/** Mail of people on the pages: their own words, with the preamble folded away. */
import { expect } from 'vitest'
import { describeInBrowser, shareBrowser, shareSeeded } from '../support/browser.ts'
import { folders, seedHub } from '../support/seeded.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => seedHub(hub, clock, Date.now()))

describeInBrowser('A message of a person', () => {
  verifies('web.overseer.folded', 'reads as it was typed on every page, without scripts too', async () => {
    const { url } = parley()
    const { projects } = await (await fetch(`${url}/mail/projects?format=json`)).json()
    const { slug } = projects.find((one: { human_key: string }) => one.human_key === folders.backend)
    const page = await (await open({ javaScriptEnabled: false })).newPage()
    await page.goto(`${url}/mail/${slug}/overseer/compose?to=BlueLake&thread_id=OPS-7`)
    await page.locator('#subject').fill('Hold the release')
    await page.locator('#body_md').fill('Wait for the **backup** of tonight.')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const words = 'Wait for the backup of tonight.'
    const shown = async () => (await page.locator('main').textContent())?.replace(/\s+/g, ' ')
    for (const path of ['', '/unified-inbox', '/search?q=backup', `/${slug}/inbox/BlueLake`, `/${slug}`]) {
      await page.goto(`${url}/mail${path}`)
      expect(await shown(), path).toContain(words)
      expect(await shown(), path).not.toContain('MESSAGE FROM HUMAN')
      const isNew = (await page.locator('.row.unread', { hasText: 'Hold the release' }).count()) > 0
      // It is unread in the box of the agent, and no news to people.
      expect(isNew, path).toBe(path.includes('inbox/'))
    }
    await page.goto(`${url}/mail/${slug}/thread/OPS-7`)
    const preamble = page.getByText('MESSAGE FROM HUMAN OVERSEER')
    expect(await preamble.isVisible()).toBe(false)
    expect(await page.locator('article .body').textContent()).toContain(words)
    await page.getByText('Agents read the overseer preamble first').click()
    expect(await preamble.isVisible()).toBe(true)
    const text = await (await fetch(`${url}/mail/${slug}/thread/OPS-7?format=md`)).text()
    expect(text).toContain('Wait for the **backup** of tonight.')
    expect(text).not.toContain('MESSAGE FROM HUMAN')
  })
})
