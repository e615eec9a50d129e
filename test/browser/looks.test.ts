/** How every page looks: to those who see little or use no mouse, in both themes, and on a phone. */
import axe from 'axe-core'
import { expect } from 'vitest'
import { pages } from '../../src/doors/web/routes.ts'
import { describeInBrowser, desktop, phone, scrollsSideways, shareBrowser, shareSeeded } from '../support/browser.ts'
import { seedHub, seedSealed } from '../support/seeded.ts'
import { pagesOf } from '../support/seeded-pages.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded(async (hub, clock) => {
  await seedHub(hub, clock, Date.now())
  await seedSealed(hub)
})

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The rules that a theme can break; all others look at what is the same in both. */
const colours = ['color-contrast', 'link-in-text-block']

const violations = (only: readonly string[]): string => `axe
  .run({ runOnly: ${JSON.stringify(only)}, resultTypes: ['violations'] })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary].join(': '))))`

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
        // Whoever may not be known yet, at the login, is shown no menu.
        expect(await page.locator('body > header, .columns > nav, .columns > main').count(), name).toBe(
          name === 'login' ? 2 : 3,
        )
        await page.evaluate(axe.source)
        for (const [look, viewport, colorScheme, rules] of [
          ['light', desktop, 'light', tags],
          ['dark', desktop, 'dark', colours],
          ['dark phone', phone, 'dark', colours],
          ['phone', phone, 'light', tags],
        ] as const) {
          await page.setViewportSize(viewport)
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          if (await scrollsSideways(page)) wrong.push(`${name}, ${look}: scrolls sideways`)
          const found = (await page.evaluate(violations(rules))) as string[]
          wrong.push(...found.map((one) => `${name}, ${look}: ${one}`))
        }
        await page.setViewportSize(desktop)
      }
      expect(wrong).toEqual([])
    },
    180_000,
  )
})
