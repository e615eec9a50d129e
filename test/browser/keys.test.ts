/** The pages by keyboard only. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { describeInBrowser, focused, shareBrowser, shareSeeded } from '../support/browser.ts'
import { plainMail, type Receipt } from '../support/mail.ts'
import { folders, seedHub } from '../support/seeded.ts'
import { pagesOf } from '../support/seeded-pages.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => seedHub(hub, clock, Date.now()))

const row = (page: Page): Promise<number> =>
  page.evaluate(
    `[...document.querySelectorAll('#main :is([data-row], .need)')].findIndex((row) => row.contains(document.activeElement))`,
  )

const pathOf = (page: Page): string => new URL(page.url()).pathname

/** Presses one after the other, and waits for the page that they lead to. */
async function go(page: Page, keys: readonly string[], to: RegExp | string): Promise<void> {
  const arrived = page.waitForURL(to)
  for (const key of keys) await page.keyboard.press(key)
  await arrived
}

const write = (url: string, subject: string) =>
  plainMail({ url }).call<Receipt>('send_message', {
    project_key: folders.backend,
    sender_name: 'GreenCastle',
    to: ['BlueLake'],
    subject,
    body_md: 'One more.',
  })

describeInBrowser('By keys a person', () => {
  verifies(['web.keys.walk', 'web.keys.place'], 'walks a list, opens a message, goes back, and answers', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await page.goto(`${url}/mail/unified-inbox`)
    for (const [key, at] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key)
      expect(await row(page)).toBe(at)
    }
    // Back, and u, lead to the line that one came from.
    const href = (await page.locator('#main [data-row]').nth(1).locator('a.subject').getAttribute('href')) ?? ''
    await go(page, ['o'], url + href)
    await page.keyboard.press('j')
    expect(await page.evaluate(`document.activeElement.closest('article.message') !== null`)).toBe(true)
    await go(page, ['u'], `${url}/mail/unified-inbox`)
    await page.locator('a.subject:focus').waitFor()
    expect(await row(page)).toBe(1)
    await page.goto(`${url}/mail`)
    const message = page.locator('#main [data-row] a.subject[href*="/message/"]').first()
    await message.focus()
    await go(page, ['o'], /\/message\/\d+$/)
    await go(page, ['r'], /\/thread\/[^/]+#m-\d+$/)
    await page.keyboard.press('r')
    expect(await focused(page)).toBe('body_md')
    await page.keyboard.type('juke')
    expect(await page.locator('#body_md').inputValue()).toBe('juke')
    await page.evaluate('document.activeElement.blur()')
    await go(page, ['u'], /\/message\/\d+$/)
    await go(page, ['u'], `${url}/mail`)
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

  verifies(['web.keys.walk', 'web.keys.place'], 'marks the unread of an inbox as read, in place', async () => {
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
    await page.keyboard.press('e')
    await page.locator(`#${id}:not(.unread)`).waitFor()
    expect(await unread.count()).toBe(count - 1)
    // The page is the same, and the next line has the focus.
    await page.locator('[data-row]:focus, [data-row] :focus').first().waitFor()
    expect([pathOf(page), new URL(page.url()).search, await row(page)]).toEqual([`${project}/inbox/BlueLake`, '', 1])
    expect(await page.locator(`#${id}.unread`).count()).toBe(0)
    // Chosen lines are marked together.
    const chosen = await Promise.all((await unread.all()).map((one) => one.getAttribute('id')))
    for (const one of chosen) {
      await page.locator(`#${one} a.subject`).focus()
      await page.keyboard.press('x')
    }
    expect(await page.locator('.row.chosen').count()).toBe(count - 1)
    await page.keyboard.press('e')
    for (const one of chosen) await page.locator(`#${one}:not(.unread)`).waitFor()
    // One line takes all of it back, and stays while the page goes on.
    const notice = page.locator('main > .notice', { has: page.getByRole('button', { name: 'Undo' }) })
    await notice.waitFor()
    const { message_id } = await write(url, 'Meanwhile')
    await page.locator(`#r-${message_id}`).waitFor()
    expect(await notice.textContent()).toContain('Marked as read.')
    await page.keyboard.press('z')
    for (const one of chosen) await page.locator(`#${one}.unread`).waitFor()
    await page.locator('main > .notice', { hasText: 'Taken back.' }).waitFor()
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })

  verifies('web.keys.place', 'answers from a list, on the line of the message', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    for (const [path, at] of [
      ['/mail/unified-inbox', 1],
      ['/mail', 2],
    ] as const) {
      await page.goto(url + path)
      const line = page.locator('#main .row').nth(at)
      const id = await line.getAttribute('id')
      await line.locator('a.subject').focus()
      await page.keyboard.press('r')
      const field = page.locator(`#${id} textarea:focus`)
      await field.waitFor()
      await page.keyboard.type('juke ')
      // Esc lets it be.
      await page.keyboard.press('Escape')
      await field.waitFor({ state: 'detached' })
      await page.keyboard.press('r')
      await field.waitFor()
      await page.keyboard.type('Rather on Monday.')
      const { message_id } = await write(url, 'While somebody types')
      await page.locator(`#r-${message_id}`).waitFor()
      expect(await field.inputValue()).toBe('Rather on Monday.')
      await page.locator(`#${id}`).getByRole('button', { name: 'Send', exact: true }).click()
      await page.locator('main > .notice', { hasText: 'Your answer is sent.' }).waitFor()
      expect([pathOf(page), await page.locator('form.here').count()]).toEqual([path, 0])
    }
  })

  verifies('web.keys.place', 'approves a contact and releases a lease without leaving the list', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await page.goto(`${url}/mail/attention`)
    for (const [key, inLine, asked] of [
      ['a', 'a[href*="confirm=contact-"]', 'decision'],
      ['l', 'a[href*="confirm=lease-"]', 'release'],
    ] as const) {
      const line = page.locator('.need', { has: page.locator(inLine) }).first()
      const id = (await line.getAttribute('id')) ?? ''
      await line.locator('a').first().focus()
      await page.keyboard.press(key)
      // Each is asked once.
      await page.locator(`[name="${asked}"]:focus`).waitFor()
      await page.keyboard.press('Enter')
      await page.locator(`#${id}`).waitFor({ state: 'detached' })
      await page.locator(':focus').waitFor()
      expect(page.url()).not.toMatch(/done|confirm/)
    }
  })

  verifies('web.keys.jump', 'jumps to an agent, a thread and a project by name', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const { project = '' } = await pagesOf(url)
    await page.goto(`${url}/mail`)
    for (const [typed, to] of [
      ['bluelake', `${url}${project}/inbox/BlueLake`],
      ['inc-31', `${url}${project}/thread/INC-31`],
      ['send mess', `${url}${project}/overseer/compose`],
      ['staging is red', `${url}${project}/thread/INC-31`],
      [project.slice('/mail/'.length), url + project],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.locator('#jump-list [aria-selected="true"]').waitFor()
      await page.keyboard.type(typed)
      await page.locator(`#jump-list a[aria-selected="true"][href="${to.slice(url.length)}"]`).waitFor()
      await go(page, ['Enter'], to)
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Jump to' }).waitFor()
    await page.keyboard.type('no such thing')
    await page.getByText('Nothing matches.').waitFor()
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
