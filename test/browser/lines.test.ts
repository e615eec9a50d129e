/** Lists and tables with long names, paths and subjects: lines as the browser breaks them. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { describeInBrowser, phone, shareBrowser, shareSeeded } from '../support/browser.ts'
import { seedWide, wide } from '../support/long.ts'
import { pagesOf } from '../support/seeded-pages.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => {
  // Its leases hold while the pages are looked at.
  clock.set(Date.now())
  return seedWide(hub)
})

/**
 * Words that stand on two lines though their column has room for them. A path is broken after a slash, a word with hyphens after
 * one of them.
 */
const brokenWords = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const broken = []
    const columnOf = (one) => (getComputedStyle(one).display === 'inline' ? columnOf(one.parentElement) : one)
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const column = columnOf(text.parentElement)
      if ( text.parentElement.closest('pre, svg, dialog, .visually-hidden') || column.clientWidth === 0) continue
      const whole = document.createRange()
      whole.selectNodeContents(text)
      if (whole.getClientRects().length < 2) continue
      for (const found of text.data.matchAll(/[^\\s/\\-\\u2010-\\u2014…]+/g)) {
        const range = document.createRange()
        range.setStart(text, found.index)
        range.setEnd(text, found.index + found[0].length)
        const boxes = [...range.getClientRects()].filter(({ width }) => width > 0)
        if (new Set(boxes.map(({ top }) => Math.round(top))).size < 2) continue
        const wide = boxes.reduce((sum, { width }) => sum + width, 0)
        const style = getComputedStyle(column)
        const room = column.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
        if (wide <= room) broken.push(found[0] + ' in ' + column.tagName + '.' + column.className)
      }
    }
    if (document.documentElement.scrollWidth > innerWidth) broken.push('scrolls sideways')
    return broken
  })()`)

const listed = async (url: string): Promise<[string, string][]> => {
  const all = Object.entries(await pagesOf(url))
  const { project = '' } = Object.fromEntries(all)
  return [
    ...all.map(([name, path]): [string, string] => [name, name === 'search' ? '/mail/search?q=refund*' : path]),
    ['a thread of a deep list', `${project}/thread/NESTED-40`],
  ]
}

describeInBrowser('Long names, paths and subjects', () => {
  verifies(
    'web.looks.words',
    'break no word that fits its column, from a phone to a wall',
    async () => {
      const { url } = parley()
      const page = await (await open()).newPage()
      const wrong: string[] = []
      for (const [name, path] of await listed(url)) {
        expect((await page.goto(url + path))?.status(), name).toBe(name === 'missing' ? 404 : 200)
        for (const width of [390, 768, 1200, 1440, 2560]) {
          await page.setViewportSize({ width, height: 900 })
          wrong.push(...(await brokenWords(page)).map((word) => `${name} at ${width}: ${word}`))
        }
      }
      expect(wrong).toEqual([])
    },
    60_000,
  )

  verifies('web.looks.words', 'keep short columns on a line, and a path is copied whole', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const { reservations = '' } = await pagesOf(url)
    await page.goto(url + reservations)
    for (const cell of await page.locator('td.short, th').all()) {
      const { height = 0 } = (await cell.boundingBox()) ?? {}
      expect(await cell.evaluate((one) => getComputedStyle(one).whiteSpace)).toBe('nowrap')
      expect(height).toBeGreaterThan(0)
    }
    const path = page.locator(`td.path[title="${wide.path}"]`)
    expect(await path.evaluate((cell) => String(getSelection()?.selectAllChildren(cell) ?? getSelection()))).toContain(
      wide.path,
    )
  })

  verifies(
    'web.looks.rows',
    'are rows of words: sealed mail of a pair once, and a subject that can be seen',
    async () => {
      const { url } = parley()
      const page = await (await open()).newPage()
      for (const path of ['/mail', '/mail/unified-inbox']) {
        await page.goto(url + path)
        expect(await page.locator('.row.sealed').count(), path).toBe(1)
        expect(await page.locator('.row.sealed .number').textContent(), path).toBe('6')
        expect(await page.locator('.row', { hasText: 'Nobody sees this' }).locator('.subject').textContent()).toBe(
          '(no subject)',
        )
        const text = (await page.locator('.rows').textContent()) ?? ''
        expect(text).not.toMatch(/---|```/)
      }
      await page.getByRole('link', { name: '(no subject)' }).first().click()
      // A thread has a key to be called by.
      expect(await page.locator('h1').textContent()).toBe('INVISIBLE-1')
    },
  )

  verifies(
    ['web.looks.phone', 'web.needs.listed'],
    'says each line whole on a phone, with its buttons in reach',
    async () => {
      const { url } = parley()
      const page = await (await open({ viewport: phone })).newPage()
      await page.goto(`${url}/mail/attention`)
      expect(await page.locator('.need').count()).toBeGreaterThan(1)
      const cut = await page
        .locator('.need .says p')
        .evaluateAll((all) =>
          all
            .filter((one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth)
            .map((one) => one.textContent),
        )
      expect(cut).toEqual([])
      for (const button of await page.locator('.need .acts :is(a, button)').all()) {
        const { x = -1, width = 0, height = 0 } = (await button.boundingBox()) ?? {}
        expect([x >= 0, x + width <= phone.width, height >= 24]).toEqual([true, true, true])
      }
    },
  )

  verifies('web.looks.discs', 'have discs in the colour of their name, with initials of their own', async () => {
    const { url } = parley()
    const page = await (await open({ viewport: phone })).newPage()
    const { compose = '' } = await pagesOf(url)
    await page.goto(url + compose)
    const discs = await page.locator('fieldset label').evaluateAll((labels) =>
      labels.map((label) => {
        const [disc, name] = label.querySelectorAll('span')
        return [name?.textContent ?? '', disc?.textContent ?? '', disc?.className ?? '']
      }),
    )
    expect(new Set(discs.map(([, initials]) => initials)).size).toBe(discs.length)
    expect(Object.fromEntries(discs.map(([name, initials]) => [name, initials]))).toMatchObject({
      GreenCastle: 'GC',
      GreyCliff: 'Gr',
      Agent10: 'A10',
      Agent11: 'A11',
    })
    // No colour in a name: then a hue that none of those before it has. One agent is left out: it has a name of Parley's choice, with any colour or none.
    const named = ['TealOtter', 'GreenCastle', 'BlueLake', 'Agent10', 'Agent11', 'IronGate', 'StillWater', wide.name]
    const looks = discs.filter(([name = '']) => named.includes(name)).map(([, , look]) => look)
    expect(looks).toHaveLength(named.length)
    expect(new Set(looks).size).toBe(looks.length)
    const classes = new Map(discs.map(([name = '', , look = '']) => [name, look]))
    expect([classes.get('BlueLake'), classes.get('GreenCastle'), classes.get('GreyCliff')]).toEqual([
      'disc h11',
      'disc h6',
      'disc neutral',
    ])
  })
})
