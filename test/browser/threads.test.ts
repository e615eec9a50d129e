/** Long threads: where they open, how one moves in them, and what they are called. */
import { expect } from 'vitest'
import { local } from '../../src/core/access/callers.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import { send } from '../../src/core/messages/send.ts'
import { describeInBrowser, phone, shareBrowser, shareSeeded } from '../support/browser.ts'
import { registered } from '../support/hub.ts'
import { plainMail } from '../support/mail.ts'
import { verifies } from '../support/verifies.ts'

const project = '/srv/repos/long-thread'
const ids: number[] = []

const open = shareBrowser()
const parley = shareSeeded(async (hub) => {
  for (const name of ['GreenCastle', 'BlueLake']) await ensureAgent(hub, local, { project, name })
  for (let n = 0; n < 120; n++) {
    const [from, to] = n % 2 === 0 ? ['GreenCastle', 'BlueLake'] : ['BlueLake', 'GreenCastle']
    const subject = n === 0 ? 'Re: Moving the tables' : `Re: step ${n}`
    const body = `Word ${n}.\n\n${'More of it. '.repeat(20)}`
    const sent = await send(hub, registered(from, project), { to: [{ name: to }], subject, body, thread: 'LONG-1' })
    ids.push(sent.messageId)
  }
})

const addressOf = async (url: string): Promise<string> => {
  const { messages } = await (await fetch(`${url}/mail?format=json&limit=1`)).json()
  return `${url}/mail/${messages[0].project}/thread/LONG-1`
}

/** More of the thread, as its agents write on. */
async function more(url: string, count: number): Promise<number[]> {
  const sent: number[] = []
  for (let n = 0; n < count; n++) {
    const { message_id } = await plainMail({ url }).call<{ message_id: number }>('send_message', {
      project_key: project,
      sender_name: 'GreenCastle',
      to: ['BlueLake'],
      subject: 'Re: more',
      body_md: `New ${n}\n\n${'And more of it. '.repeat(120)}`,
      thread_id: 'LONG-1',
    })
    sent.push(message_id)
  }
  return sent
}

describeInBrowser('A long thread', () => {
  verifies(
    'web.thread.opens',
    'opens at its newest message, then at the first new one, and at any by its id',
    async () => {
      const { url } = parley()
      const address = await addressOf(url)
      const context = await open()
      const page = await context.newPage()
      const inView = (id: number | undefined) =>
        page.locator(`#m-${id}`).evaluate((one) => {
          const { top, bottom } = one.getBoundingClientRect()
          return bottom > 48 && top < innerHeight
        })
      await page.goto(address)
      await expect.poll(() => inView(ids.at(-1))).toBe(true)
      await page.goto(`${url}/mail/projects`)
      const fresh = await more(url, 3)
      await page.goto(address)
      await expect.poll(() => page.locator('#new + article').getAttribute('id')).toBe(`m-${fresh[0]}`)
      await expect.poll(() => inView(fresh[0])).toBe(true)
      for (const id of [ids[1], ids[60]]) {
        await page.goto('about:blank')
        await page.goto(`${address}#m-${id}`)
        await page.locator(`#m-${id}`).waitFor()
        await expect.poll(() => inView(id)).toBe(true)
      }
    },
  )

  verifies(
    'web.thread.opens',
    'opens at the first new message also where more are new than a page shows, and only what was shown is seen',
    async () => {
      const { url } = parley()
      const address = `${await addressOf(url)}?limit=10`
      const page = await (await open()).newPage()
      // The first page gives the browser its cookie, the second is seen.
      for (let n = 0; n < 2; n++) await page.goto(address)
      const fresh = await more(url, 14)
      const ids = () => page.locator('article').evaluateAll((all) => all.map((one) => Number(one.id.slice(2))))
      const left = () => page.locator('.recent a', { hasText: 'Moving the tables' }).first().textContent()
      // The end was looked at, and what stands before it was not.
      await page.goto(`${address}&newest=1`)
      expect(await ids()).toEqual(fresh.slice(-10))
      expect(await left()).toContain('14 new to you')
      await page.goto(address)
      expect(await page.locator('#new + article').getAttribute('id')).toBe(`m-${fresh[0]}`)
      expect(await page.locator('#new').boundingBox()).toMatchObject({ y: expect.closeTo(64, -1) })
      const first = await ids()
      await page.reload()
      expect(await ids()).toEqual(first)
      expect(await left()).toContain(`${14 - first.filter((id) => fresh.includes(id)).length} new to you`)
      await page.getByRole('link', { name: 'Later messages' }).click()
      await page.goto(address)
      expect(await page.locator('#new').count()).toBe(0)
      expect(await ids()).toEqual(fresh.slice(-10))
    },
  )

  verifies('web.thread.opens', 'follows a link to a message that another of its pages has', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await page.goto(await addressOf(url))
    await page.evaluate(`location.hash = '#m-${ids[1]}'`)
    await page.locator(`#m-${ids[1]}`).waitFor()
  })

  verifies(
    'web.thread.both',
    'has earlier and later messages from every page, without scripts, under one name',
    async () => {
      const { url } = parley()
      const address = await addressOf(url)
      const page = await (await open({ javaScriptEnabled: false, viewport: phone })).newPage()
      await page.goto(`${address}?at=${ids[60]}&limit=20`)
      const shown = () => page.locator('article').evaluateAll((all) => all.map((one) => Number(one.id.slice(2))))
      const first = await shown()
      expect(first).toContain(ids[60])
      expect(await page.locator('#reply').count()).toBe(0)
      await page.getByRole('link', { name: 'Later messages' }).click()
      const second = await shown()
      expect(second[0]).toBe((first.at(-1) ?? 0) + 1)
      await page.getByRole('link', { name: 'Earlier messages' }).click()
      expect(await shown()).toEqual(first)
      await page.getByRole('link', { name: 'Newest messages' }).click()
      expect(await page.locator('#reply').count()).toBe(1)
      expect(await page.locator('h1').textContent()).toBe('Moving the tables')
      expect(await page.locator('.recent .name').first().textContent()).toBe('Moving the tables')
      const { places } = await (await fetch(`${url}/mail/jump?q=step&format=json`)).json()
      expect(places[0]).toMatchObject({ name: 'Moving the tables', href: new URL(address).pathname })
    },
  )

  verifies('web.looks.tabs', 'and every page of its project has its own tab in view on a phone', async () => {
    const { url } = parley()
    const address = await addressOf(url)
    const page = await (await open({ viewport: phone })).newPage()
    for (const tab of ['contacts', 'attachments', 'activity', 'search']) {
      await page.goto(address.replace(/thread\/.*$/, tab))
      const { x = -1, width = 0 } = (await page.locator('.tabs [aria-current]').boundingBox()) ?? {}
      expect([x >= 0, x + width <= phone.width], tab).toEqual([true, true])
    }
  })
})
