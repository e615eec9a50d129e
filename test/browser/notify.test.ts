/** Desktop notifications, as a page asks for them and tells of new lines of Needs you. */
import { expect } from 'vitest'
import { payments, seedBoard } from '../support/board.ts'
import { describeInBrowser, shareBrowser, shareSeeded } from '../support/browser.ts'
import { connectMail } from '../support/mail.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => seedBoard(hub, clock, Date.now()))

/** A browser without a screen shows no notification: this one writes down what it was asked to show. */
const written = `
  window.notes = []
  window.Notification = class {
    static permission = 'default'
    static async requestPermission() { return (Notification.permission = 'granted') }
    constructor(title, { body }) { notes.push(body) }
    addEventListener() {}
  }`

describeInBrowser('Notifications', () => {
  verifies('web.notify.asked', 'come once they were asked for, and not from a muted project', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    await page.addInitScript(written)
    const home = await (await fetch(`${url}/mail/projects`, { headers: { accept: 'application/json' } })).json()
    const slug = home.projects.find(({ human_key }: { human_key: string }) => human_key === payments).slug
    await page.goto(`${url}/mail/${slug}`)
    const known = () => page.evaluate(`localStorage.getItem('parley:notified') ?? ''`) as Promise<string>
    expect(await known()).toBe('')
    await page.getByRole('button', { name: 'Notifications off' }).click()
    await expect.poll(known).toContain('lease-')
    expect(await page.evaluate('notes')).toEqual([])
    const door = await connectMail(parley(), '2025-11-25')
    const write = async (subject: string): Promise<string> => {
      const mail = { project_key: payments, sender_name: 'AmberWillow', to: ['HumanOverseer'], subject, body_md: 'b' }
      return `answer-${(await door.call<{ message_id: number }>('send_message', mail)).message_id}`
    }
    await expect.poll(known, { timeout: 10_000 }).toContain(await write('Which one?'))
    expect(await page.evaluate('notes')).toEqual(['AmberWillow wrote to you: Which one?'])
    await page.getByRole('button', { name: 'Mute project' }).click()
    await page.getByRole('button', { name: 'Unmute project' }).waitFor()
    await expect.poll(known, { timeout: 10_000 }).toContain(await write('And now?'))
    expect(await page.evaluate('notes')).toHaveLength(1)
  })

  verifies('web.notify.asked', 'tell of an agent that is stuck, and again when it is stuck again', async () => {
    const page = await (await open()).newPage()
    await page.addInitScript(written)
    await page.clock.install()
    let lines: object[] = []
    await page.route('**/mail/attention?lines=1', (route) => route.fulfill({ json: { lines } }))
    await page.goto(`${parley().url}/mail/projects`)
    const told = page.waitForResponse('**/mail/attention?lines=1')
    await page.getByRole('button', { name: 'Notifications off' }).click()
    await told
    const stuck = [{ id: 'stuck-7', project: 'x', text: 'CopperHeron is stuck' }]
    for (const next of [stuck, [], stuck]) {
      lines = next
      const asked = page.waitForResponse('**/mail/attention?lines=1')
      // Nothing changed in the hub: a timer asks.
      await page.clock.fastForward(61_000)
      await page.clock.fastForward(3000)
      await asked
      await expect
        .poll(() => page.evaluate(`localStorage.getItem('parley:notified')`))
        .toBe(JSON.stringify(next.map(({ id }) => id)))
    }
    expect(await page.evaluate('notes')).toEqual(['CopperHeron is stuck', 'CopperHeron is stuck'])
  })
})
