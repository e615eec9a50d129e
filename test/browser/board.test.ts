/** The board of agents and the list of what needs a person, as a person uses them. */
import { expect } from 'vitest'
import { seedBoard } from '../support/board.ts'
import { describeInBrowser, phone, shareBrowser, shareSeeded } from '../support/browser.ts'
import { pageToLookAt, wrongLooks } from '../support/looks.ts'
import { callTool } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const open = shareBrowser()
const parley = shareSeeded((hub, clock) => seedBoard(hub, clock, Date.now()))

describeInBrowser('The board', () => {
  verifies('web.board.live', 'shows a wait as it begins and as it ends, in words', async () => {
    const { url } = parley()
    const page = await (await open()).newPage()
    const stream = page.waitForResponse((response) => response.url().includes('/mail/events'))
    await Promise.all([page.goto(`${url}/mail/agents`), stream])
    const states = await page.locator('.board .state').allTextContents()
    expect(states.slice(0, 3)).toEqual(['stuck', 'blocked', 'blocked'])
    const stuck = page.locator('.board tr', { hasText: 'CopperHeron' }).first()
    expect(await stuck.textContent()).toMatch(/holds src\/ledger\/rounding\.ts against EmeraldFern/)
    const mailbox = (name: string) => `${url}/agents/${name}/mcp`
    const wait = callTool(mailbox('carol'), 'check_mail', { wait_seconds: 20 })
    const state = page.locator('.board tr', { hasText: 'carol' }).locator('.state')
    await state.getByText('waiting').waitFor()
    expect(await page.locator('.board tr', { hasText: 'carol' }).locator('.reach').textContent()).toBe(
      'gets mail at once',
    )
    expect(await stuck.locator('.reach').textContent()).toBe('nothing wakes it')
    await callTool(mailbox('dave'), 'send_to_agent', { name: 'carol', msg: 'Use the rates of Friday.' })
    await wait
    await state.getByText('working').waitFor()
    expect(await page.locator('.legend .state').count()).toBe(6)
  })

  verifies(
    ['web.needs.acts', 'web.needs.listed'],
    'leads from Home to the released lease in three clicks, without scripts, the question included',
    async () => {
      const { url } = parley()
      const page = await (await open({ javaScriptEnabled: false, viewport: phone })).newPage()
      await page.goto(`${url}/mail`)
      // It reads text, follows links and presses buttons: the line that says who holds what against whom has the next step.
      const line = () => page.locator('li', { hasText: 'CopperHeron holds src/ledger/**; EmeraldFern wants' })
      expect(await line().textContent()).toContain('it is stuck')
      await line()
        .getByRole('link', { name: /^Release/ })
        .click()
      expect(await line().textContent()).toContain('CopperHeron is told, and EmeraldFern may go on')
      await line().getByRole('button', { name: 'Release now' }).click()
      await page.getByText('The reservation is released, and its holder told.').waitFor()
      expect(await line().count()).toBe(0)
      await page.goto(`${url}/mail/agents`)
      const row = page.locator('.board tr', { hasText: 'EmeraldFern' }).last()
      expect(await row.locator('.state').textContent()).not.toBe('blocked')
    },
  )

  verifies('web.needs.acts', 'reminds an agent of all that it owes, and stays where it was', async () => {
    const { url } = parley()
    const page = await pageToLookAt(await open())
    await page.goto(`${url}/mail/attention`)
    await page.getByRole('button', { name: 'Remind CopperHeron' }).click()
    await page.getByText('Everybody who is late was reminded.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/mail/attention')
    await page.goto(`${url}/mail/attention?confirm=none`)
    expect(await wrongLooks(page, 'needs')).toEqual([])
  })
})
