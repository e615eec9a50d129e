/** How every page looks: to those who see little or use no mouse, in both themes, and on a phone. */
import { expect } from 'vitest'
import { pages } from '../../src/doors/web/routes.ts'
import { describeInBrowser, desktop, shareBrowser, shareSeeded } from '../support/browser.ts'
import { wrongLooks } from '../support/looks.ts'
import { seedHub, seedSealed } from '../support/seeded.ts'
import { pagesOf } from '../support/seeded-pages.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded(async (hub, clock) => {
  await seedHub(hub, clock, Date.now())
  await seedSealed(hub)
})

describeInBrowser('Every page', () => {
  verifies(
    ['web.looks.accessible', 'web.looks.phone'],
    'passes WCAG 2.2 AA in both themes, on a desk and on a phone, where nothing scrolls sideways',
    async () => {
      const { url } = parley()
      const listed = Object.entries(await pagesOf(url))
      for (const route of Object.keys(pages)) {
        const pattern = new RegExp(`^${route.replaceAll(/:\w+/g, '[^/?]+')}(\\?|$)`)
        expect(
          listed.filter(([, path]) => pattern.test(path)),
          route,
        ).not.toEqual([])
      }
      const page = await (await open()).newPage()
      const wrong: string[] = []
      for (const [name, path] of listed) {
        await page.goto(url + path)
        expect(await page.locator('h1').count(), name).toBe(1)
        // At the login the caller is not known yet: it is shown no menu.
        const landmarks = page.locator('body > header, .columns > nav, .columns > main')
        expect(await landmarks.count(), name).toBe(name === 'login' ? 2 : 3)
        wrong.push(...(await wrongLooks(page, name)))
        await page.setViewportSize(desktop)
      }
      expect(wrong).toEqual([])
    },
    180_000,
  )
})
