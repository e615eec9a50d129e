/** The pages by keyboard only. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { describeInBrowser, focused, shareBrowser, shareSeeded } from '../support/browser.ts'
import { seedHub } from '../support/seeded.ts'
import { pagesOf } from '../support/seeded-pages.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => seedHub(hub, clock, Date.now()))

const row = (page: Page): Promise<number> =>
  page.evaluate(
    `[...document.querySelectorAll('#main [data-row]')].findIndex((row) => row.contains(document.activeElement))`,
  )

const pathOf = (page: Page): string => new URL(page.url()).pathname

/** Presses one after the other, and waits for the page that they lead to. */
async function go(page: Page, keys: readonly string[], to: RegExp | string): Promise<void> {
  const arrived = page.waitForURL(to)
  for (const key of keys) await page.keyboard.press(key)
  await arrived
}

describeInBrowser('By keys a person', () => {
  verifies('web.keys.walk', 'walks a list, opens a message, goes up, and answers', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await page.goto(`${url}/mail`)
    for (const [key, at] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key)
      expect(await row(page)).toBe(at)
    }
    const href = (await page.locator('#main [data-row]').nth(1).locator('a.subject').getAttribute('href')) ?? ''
    await go(page, ['o'], url + href)
    await go(page, ['r'], /\/thread\/[^/]+#m-\d+$/)
    await page.keyboard.press('r')
    expect(await focused(page)).toBe('body_md')
    await page.keyboard.type('juke')
    expect(await page.locator('#body_md').inputValue()).toBe('juke')
    await page.evaluate('document.activeElement.blur()')
    await go(page, ['u'], /\/threads$/)
    await go(page, ['u'], /\/mail\/[^/]+$/)
  })

  verifies('web.keys.walk', 'reaches search, compose, the boards and the list of keys', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const { project = '' } = await pagesOf(url)
    await page.goto(`${url}/mail/projects`)
    await go(page, ['c'], `${url}/mail/overseer/compose`)
    await go(page, ['g', 'a'], `${url}/mail/attention`)
    await go(page, ['g', 'p'], `${url}/mail/projects`)
    await go(page, ['g', 't'], `${url}/mail/unified-inbox`)
    await go(page, ['g', 'h'], `${url}/mail`)
    await page.goto(url + project)
    await go(page, ['g', 't'], `${url}${project}/threads`)
    await go(page, ['c'], `${url}${project}/overseer/compose`)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('/')
    expect(await focused(page)).toBe('find')
    await page.keyboard.type('orders')
    await go(page, ['Enter'], `${url}${project}/search?q=orders`)
  })

  verifies('web.keys.walk', 'finds the next unread message of an inbox and marks it as read', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const { project = '' } = await pagesOf(url)
    await page.goto(`${url}${project}/inbox/BlueLake`)
    const unread = page.locator('#main [data-row].unread')
    const count = await unread.count()
    expect(count).toBeGreaterThan(1)
    await page.keyboard.press('n')
    const id = await unread.first().getAttribute('id')
    expect(await page.evaluate(`document.getElementById('${id}').contains(document.activeElement)`)).toBe(true)
    await go(page, ['e'], /done=read/)
    expect(await unread.count()).toBe(count - 1)
    expect(await page.locator(`#${id}.unread`).count()).toBe(0)
    // Messages that were read are passed over.
    await page.keyboard.press('n')
    const next = await unread.first().getAttribute('id')
    expect(await page.evaluate(`document.activeElement.closest('[data-row]').id`)).toBe(next)
    expect(await row(page)).toBe(1)
  })

  verifies('web.keys.jump', 'jumps to an agent, a thread and a project by name', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const { project = '' } = await pagesOf(url)
    await page.goto(`${url}/mail`)
    for (const [typed, to] of [
      ['bluelake', `${url}${project}/inbox/BlueLake`],
      ['staging is red', `${url}${project}/thread/INC-31`],
      [project.slice('/mail/'.length), url + project],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.locator('#jump-list [aria-selected="true"]').waitFor()
      await page.keyboard.type(typed)
      await page.locator(`#jump-list [aria-selected="true"] a[href="${to.slice(url.length)}"]`).waitFor()
      await go(page, ['Enter'], to)
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Jump to' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Jump to' }).waitFor({ state: 'hidden' })
  })

  verifies('web.keys.fields', 'types every letter in a field, and may switch the keys off', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await page.goto(`${url}/mail`)
    await page.keyboard.press('/')
    await page.keyboard.type('/?jkounercgh')
    await page.keyboard.press('Control+k')
    expect(await page.locator('#find').inputValue()).toBe('/?jkounercgh')
    expect(await focused(page)).toBe('find')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByRole('button', { name: 'Shortcuts on' }).press('Enter')
    await page.getByRole('button', { name: 'Shortcuts off' }).waitFor()
    const before = await focused(page)
    for (const key of ['j', '/', '?', 'c', 'g', 'p', 'Control+k']) await page.keyboard.press(key)
    expect([await row(page), await focused(page), pathOf(page)]).toEqual([-1, before, '/mail'])
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByRole('button', { name: 'Shortcuts off' }).press('Enter')
    await page.getByRole('button', { name: 'Shortcuts on' }).waitFor()
    await page.keyboard.press('j')
    expect(await row(page)).toBe(0)
  })
})
