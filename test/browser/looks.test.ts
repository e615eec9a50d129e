/** How every page looks: to those who see little or use no mouse, in both themes, and on a phone. */
import { expect } from 'vitest'
import { pages } from '../../src/doors/web/routes.ts'
import { describeInBrowser, desktop, phone, shareBrowser, shareSeeded } from '../support/browser.ts'
import { pageToLookAt, twoLooks, wrongLooks } from '../support/looks.ts'
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
      const page = await pageToLookAt(await open())
      const wrong: string[] = []
      for (const [name, path] of listed) {
        await page.goto(url + path)
        expect(await page.locator('h1').count(), name).toBe(1)
        // At the login the caller is not known yet: it is shown no menu.
        const landmarks = page.locator('body > header, .columns > nav, .columns > main')
        expect(await landmarks.count(), name).toBe(name === 'login' ? 2 : 3)
        // Filters, forms and tables that are folded; the menu is the same on every page.
        await page.evaluate('document.querySelectorAll("details:not(.menu)").forEach((one) => { one.open = true })')
        wrong.push(...(await wrongLooks(page, name)))
        await page.setViewportSize(desktop)
      }
      expect(wrong).toEqual([])
    },
    180_000,
  )

  verifies('web.looks.accessible', 'also with a dialog, a question, a fault, a preview or a notice in it', async () => {
    const { url } = parley()
    const { compose = '', inbox = '', reservations = '' } = await pagesOf(url)
    const page = await pageToLookAt(await open())
    const ask = (path: string) => async () => {
      await page.goto(url + path)
      await page.locator('a[href*="confirm="]').first().click()
      await page.getByRole('button', { name: /now/ }).waitFor()
    }
    const jump = (typed: string) => async () => {
      await page.goto(`${url}/mail`)
      await page.keyboard.press('Control+k')
      await page.locator('#jump-list li').first().waitFor()
      await page.keyboard.type(typed)
    }
    const states: Record<string, () => Promise<unknown>> = {
      palette: async () => {
        await jump('staging')()
        await page.locator('#jump-list', { hasText: 'Staging is red' }).waitFor()
      },
      'palette without a match': async () => {
        await jump('no such thing')()
        await page.getByText('Nothing matches.').waitFor()
      },
      menu: async () => {
        await page.goto(`${url}/mail/agents`)
        await page.evaluate('document.querySelector(".menu").open = true')
      },
      keys: async () => {
        await page.goto(`${url}/mail`)
        await page.keyboard.press('?')
        await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      },
      'release asked': ask('/mail/attention'),
      'release of a reservation asked': ask(reservations),
      'chosen lines': async () => {
        await page.goto(url + inbox)
        await page.locator('#main [data-row]').first().waitFor()
        await page.keyboard.press('j')
        await page.keyboard.press('x')
        await page.locator('.row.chosen').waitFor()
      },
      'an answer on a line': async () => {
        await page.goto(`${url}/mail/unified-inbox`)
        await page.locator('#main [data-row]').first().waitFor()
        await page.keyboard.press('j')
        await page.keyboard.press('r')
        await page.locator('form.here textarea').waitFor()
      },
      'a search that has a note': async () => {
        await page.goto(`${url}/mail/search?q=priority:orders`)
        await page.getByText('is no operator').waitFor()
      },
      'a group of leases': () => page.goto(url + reservations),
      'a fault': async () => {
        await page.goto(url + compose)
        await page.getByRole('textbox', { name: 'Subject' }).fill('Stop')
        await page.getByRole('textbox', { name: 'Message, in Markdown' }).fill('It is **too fast**.')
        await page.getByRole('button', { name: 'Send', exact: true }).click()
        await page.locator('.fault').first().waitFor()
      },
      'a preview': async () => {
        await page.getByRole('checkbox', { name: 'BlueLake' }).check()
        await page.getByRole('button', { name: 'Preview', exact: true }).click()
        await page.getByRole('region', { name: 'Preview' }).waitFor()
      },
      'a notice with Undo': async () => {
        await page.goto(`${url}/mail/attention`)
        await page.getByRole('button', { name: /^Deny/ }).click()
        await page.locator('main > .notice').getByRole('button', { name: 'Undo' }).waitFor()
      },
    }
    const wrong: string[] = []
    for (const [name, reach] of Object.entries(states)) {
      await page.setViewportSize(desktop)
      await reach()
      wrong.push(...(await wrongLooks(page, name, twoLooks)))
    }
    expect(wrong).toEqual([])
  })

  verifies('web.looks.phone', 'leaves room on the first screen of a phone for the first hit of a search', async () => {
    const { url } = parley()
    const page = await (await open({ viewport: phone, javaScriptEnabled: false })).newPage()
    await page.goto(`${url}/mail/search?q=orders`)
    const first = async () => (await page.locator('#main .row').first().boundingBox()) ?? { y: 0, height: Infinity }
    const { y, height } = await first()
    expect(y + height).toBeLessThan(phone.height)
    // The facets are a touch away.
    expect(await page.locator('.facets').isVisible()).toBe(false)
    await page.getByText('Narrow down').click()
    expect(await page.locator('.facets').isVisible()).toBe(true)
    expect((await first()).y).toBeGreaterThan(y)
  })
})
