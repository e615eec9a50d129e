/** Pages that stay up to date under the hands of a person. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { describeInBrowser, focused, shareBrowser, shareSeeded } from '../support/browser.ts'
import { plainMail, type Receipt } from '../support/mail.ts'
import { serveHere, temporaryFolder } from '../support/parley.ts'
import { folders, seedHub } from '../support/seeded.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => seedHub(hub, clock, Date.now()))

const write = async (url: string, more: Record<string, unknown> = {}) =>
  plainMail({ url }).call<Receipt>('send_message', {
    project_key: folders.backend,
    sender_name: 'GreenCastle',
    to: ['BlueLake'],
    subject: 'Re: Plan for the order tables',
    body_md: 'One more thing.',
    thread_id: 'ORD-214',
    ...more,
  })

/** Opens a page and waits for its stream: what comes before that is on the page already. */
async function watched(page: Page, address: string): Promise<void> {
  const stream = page.waitForResponse((response) => response.url().includes('/mail/events'))
  await Promise.all([page.goto(address), stream])
}

const slugOf = async (url: string): Promise<string> => {
  const { projects } = await (await fetch(`${url}/mail/projects?format=json`)).json()
  return projects.find((project: { human_key: string }) => project.human_key === folders.backend).slug
}

describeInBrowser('An open page', () => {
  verifies('web.live.kept', 'shows new mail and keeps the half-typed answer, its caret and the focus', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await watched(page, `${url}/mail/${await slugOf(url)}/thread/ORD-214`)
    const field = page.locator('#body_md')
    await field.pressSequentially('Half a sent')
    await field.press('ArrowLeft')
    const { message_id } = await write(url)
    await page.locator(`#m-${message_id}`).waitFor()
    expect(await page.locator('#live').textContent()).toBe('One new message')
    await field.pressSequentially('X')
    expect(await field.inputValue()).toBe('Half a senXt')
    expect(await focused(page)).toBe('body_md')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Your answer is sent.').waitFor()
    expect(await page.locator('article').last().textContent()).toContain('Half a senXt')
  })

  verifies('web.live.kept', 'tells of messages below what is in view, until one goes there', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const long = { thread_id: 'BELOW', body_md: 'And more of it.\n\n'.repeat(60) }
    await write(url, long)
    await write(url, long)
    await watched(page, `${url}/mail/${await slugOf(url)}/thread/BELOW`)
    await page.evaluate('scrollTo(0, 0)')
    const below = page.locator('#below')
    const { message_id: first } = await write(url, long)
    await below.getByText('↓ 1 new').waitFor()
    const { message_id: second } = await write(url, long)
    await below.getByText('↓ 2 new').waitFor()
    await below.click()
    await expect
      .poll(() => page.locator(`#m-${first}`).evaluate((one) => one.getBoundingClientRect().top < innerHeight))
      .toBe(true)
    expect([await below.count(), await page.locator(`#m-${second}`).count()]).toEqual([0, 1])
  })

  verifies('web.times.zone', 'prints times and code whole, and nothing to press', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const code = `const long = [${'1, '.repeat(200)}]`
    await write(url, { thread_id: 'PRINTED', body_md: `\`\`\`\n${code}\n\`\`\`` })
    await page.goto(`${url}/mail/${await slugOf(url)}/thread/PRINTED`)
    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width: 720, height: 1000 })
    for (const hidden of ['.top', '.side', '#reply']) expect(await page.locator(hidden).isVisible(), hidden).toBe(false)
    const isCut = (pre: Element) => pre.scrollWidth > pre.clientWidth || pre.scrollHeight > pre.clientHeight
    expect(await page.locator('article pre').first().evaluate(isCut)).toBe(false)
    const said = await page
      .locator('article time')
      .first()
      .evaluate((time) => getComputedStyle(time, '::after').content)
    expect(said).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d/)
  })

  verifies('web.live.kept', 'leaves open what a person opened, and typed filters as they are', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await watched(page, `${url}/mail/${await slugOf(url)}`)
    await page.locator('main summary', { hasText: 'Filters' }).click()
    await page.locator('main input[name="from"]').fill('Green')
    await page.locator('main input[name="boost"]').check()
    const subject = `Seen at once ${performance.now()}`
    await write(url, { subject, thread_id: undefined })
    await page.locator('main').getByText(subject).first().waitFor()
    expect(await page.locator('main details').first().getAttribute('open')).toBe('')
    expect(await page.locator('main input[name="from"]').inputValue()).toBe('Green')
    expect(await page.locator('main input[name="boost"]').isChecked()).toBe(true)
  })

  verifies('web.overseer.answers', 'tells of an answer to people in its header and its title as it comes', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await watched(page, `${url}/mail/projects`)
    const newInTitle = async () => Number(/^\((\d+)\) /.exec(await page.title())?.[1] ?? 0)
    const before = await newInTitle()
    await write(url, { to: ['HumanOverseer'], subject: 'Which one?', thread_id: undefined })
    await page.getByRole('link', { name: '1 answer to you' }).waitFor()
    await expect.poll(newInTitle).toBe(before + 1)
    await page.getByRole('link', { name: '1 answer to you' }).click()
    await page.locator('main').getByRole('link', { name: 'Which one?' }).click()
    await page.getByRole('button', { name: 'Mark as read' }).click()
    await page.getByText('Marked as read.').waitFor()
    expect(await page.locator('.answers').count()).toBe(0)
    expect(await newInTitle()).toBe(before)
  })

  verifies('web.live.tabs', 'is beside another one of the same person, and both may write', async () => {
    const { url } = parley()
    const context = await open()
    const [one, two] = [await context.newPage(), await context.newPage()]
    const address = `${url}/mail/${await slugOf(url)}/thread/INC-31`
    await watched(one, address)
    await watched(two, address)
    for (const [from, to, text] of [
      [one, two, 'Said in the first tab'],
      [two, one, 'Said in the second tab'],
    ] as const) {
      await from.locator('#body_md').fill(text)
      await from.getByRole('button', { name: 'Send', exact: true }).click()
      await from.getByText('Your answer is sent.').waitFor()
      await to.locator('article', { hasText: text }).waitFor()
    }
  })

  verifies('web.live.sparing', 'asks at most twice a second, not while hidden, and once when seen again', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const address = `${url}/mail/unified-inbox`
    await watched(page, address)
    const asked: number[] = []
    page.on('request', (request) => {
      if (request.url() === address) asked.push(performance.now())
    })
    const shown = (subject: string) => page.locator('main').getByText(subject).waitFor()
    const began = performance.now()
    for (let n = 0; n < 12; n++) await write(url, { subject: `Burst ${n}`, thread_id: `BURST-${n}` })
    await shown('Burst 11')
    expect(asked.length).toBeGreaterThan(0)
    // Told of late on a busy machine, but never of more than there were time for.
    expect(asked.length).toBeLessThanOrEqual(1 + (performance.now() - began) / 500)
    const hide = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} })
        document.dispatchEvent(new Event('visibilitychange'))`)
    // Whatever is under way ends before the tab is hidden.
    await expect.poll(() => performance.now() - (asked.at(-1) ?? 0), { timeout: 20_000 }).toBeGreaterThan(700)
    await hide(true)
    const before = asked.length
    const heard = page.evaluate(`new Promise((resolve) => {
      const stream = new EventSource('/mail/events')
      let count = 0
      stream.addEventListener('change', () => { if (++count === 2) { stream.close(); resolve() } })
      stream.addEventListener('open', () => { document.body.dataset.listening = '1' })
    })`)
    await page.locator('body[data-listening]').waitFor()
    for (const n of [1, 2]) await write(url, { subject: `Unseen ${n}`, thread_id: `UNSEEN-${n}` })
    await heard
    expect(asked.length).toBe(before)
    await hide(false)
    await shown('Unseen 2')
    expect(asked.length).toBe(before + 1)
  })

  verifies('web.board.live', 'asks anew each minute: an agent becomes stuck by doing nothing', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await page.clock.install()
    await watched(page, `${url}/mail/attention`)
    const again = page.waitForRequest((request) => request.url().endsWith('/mail/attention'))
    await page.clock.fastForward(61_000)
    await again
  })

  verifies('web.live.reconnects', 'says so while its server is away, and catches up with the next one', async () => {
    const storage = await temporaryFolder()
    const first = await serveHere({ storage })
    const { url, port } = first
    const register = (name: string) =>
      plainMail({ url }).call('register_agent', { project_key: folders.backend, program: 'x', model: 'y', name })
    for (const name of ['GreenCastle', 'BlueLake']) await register(name)
    await write(url)
    const page = await (await open()).newPage()
    await watched(page, `${url}/mail/${await slugOf(url)}/thread/ORD-214`)
    await page.locator('#body_md').fill('Not sent yet')
    await first.stop()
    const state = page.locator('#stream')
    await state.getByText('Reconnecting…').waitFor()
    await serveHere({ storage, env: { HTTP_PORT: String(port) } })
    const { message_id } = await write(url, { body_md: 'Written while nobody listened' })
    await page.locator(`#m-${message_id}`).waitFor()
    await state.waitFor({ state: 'hidden' })
    expect(await page.locator('#body_md').inputValue()).toBe('Not sent yet')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Your answer is sent.').waitFor()
  })
})
