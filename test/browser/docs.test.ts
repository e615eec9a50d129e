/** The readable page of the post door in a real browser. */
import { expect } from 'vitest'
import { describeInBrowser, shareBrowser, watchHarm } from '../support/browser.ts'
import { pageToLookAt, wrongLooks } from '../support/looks.ts'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareServer()

describeInBrowser('The page of the post door', () => {
  verifies(
    'post.docs.page',
    'passes WCAG 2.2 AA in both themes, on a desk and on a phone, and its links lead somewhere',
    async () => {
      const { url } = parley()
      const page = await pageToLookAt(await open())
      const harm = watchHarm(page, url)
      await page.goto(`${url}/docs`)
      const links = await page.locator('nav a').evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
      expect(links.length).toBeGreaterThan(15)
      for (const link of links) expect(await page.locator(link).count(), link).toBe(1)
      for (const summary of await page.locator('summary').all()) await summary.click()
      const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      const wrong = await wrongLooks(page, 'docs')
      expect(wrong).toEqual([])
      const light = await background()
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await background()).not.toBe(light)
      // The policy lets nothing in, the tools of this test aside.
      expect(harm).toEqual([])
    },
    60_000,
  )
})
