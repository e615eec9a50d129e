/** Forty agents: the graph and the axis of activity, and the composer among them. */
import { expect } from 'vitest'
import { local } from '../../src/core/access/callers.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import { send } from '../../src/core/messages/send.ts'
import { describeInBrowser, desktop, shareBrowser, shareSeeded } from '../support/browser.ts'
import { registered } from '../support/hub.ts'
import { verifies } from '../support/verifies.ts'

const project = '/srv/repos/forty'
const names = Array.from({ length: 40 }, (_, n) => `LongWindedWorker${String(n).padStart(2, '0')}`)

const third = 'LongWindedWorker03'

const open = shareBrowser()
const parley = shareSeeded(async (hub, clock) => {
  clock.set(Date.now() - 60_000)
  for (const name of names) await ensureAgent(hub, local, { project, name })
  for (const [n, name] of names.entries())
    await send(hub, registered(name, project), {
      to: [{ name: names[(n + 7) % names.length] ?? name }],
      subject: 'Round',
      body: 'and round',
    })
})

const pathOf = async (url: string): Promise<string> => {
  const { messages } = await (await fetch(`${url}/mail?format=json&limit=1`)).json()
  return `${url}/mail/${messages[0].project}`
}

/** Names of labels that lie on another one: their boxes turned as they are drawn. */
const colliding = `(() => {
  const boxes = [...document.querySelectorAll('.graph .label')].map((label) => {
    const { x, y, width, height } = label.getBBox()
    const turned = label.getScreenCTM()
    const corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
    return { name: label.textContent, corners: corners.map(([left, top]) => new DOMPoint(left, top).matrixTransform(turned)) }
  })
  const apart = (one, two) => [one, two].some((box) => box.corners.some((corner, at) => {
    const next = box.corners[(at + 1) % 4]
    const [nx, ny] = [next.y - corner.y, corner.x - next.x]
    const spread = (all) => all.map((point) => point.x * nx + point.y * ny)
    const [a, b] = [spread(one.corners), spread(two.corners)]
    return Math.max(...a) <= Math.min(...b) || Math.max(...b) <= Math.min(...a)
  }))
  return boxes.flatMap((one, at) => boxes.slice(at + 1).filter((two) => !apart(one, two)).map((two) => one.name + ' on ' + two.name))
})()`

describeInBrowser('Among forty agents', () => {
  verifies(
    ['web.looks.graph', 'web.looks.timeline'],
    'no label lies on another, and all drawings have one axis',
    async () => {
      const { url } = parley()
      const page = await (await open()).newPage()
      await page.goto(`${await pathOf(url)}/activity`)
      expect(await page.locator('.graph .label').count()).toBe(40)
      expect(await page.evaluate(colliding)).toEqual([])
      const sides = await page.locator('.timeline svg, .timeline .axis').evaluateAll((all) =>
        all.map((one) => {
          const { left, right } = one.getBoundingClientRect()
          return [Math.round(left), Math.round(right)]
        }),
      )
      expect(sides.length).toBeGreaterThan(2)
      expect(new Set(sides.map(String)).size).toBe(1)
      const now = await page
        .locator('.timeline .now')
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)))
      expect(new Set(now).size).toBe(1)
    },
  )

  verifies(
    'web.compose.groups',
    'the filter finds one as it is typed, keeps the chosen, and Send stays in view',
    async () => {
      const { url } = parley()
      const page = await (await open()).newPage()
      await page.goto(`${await pathOf(url)}/overseer/compose`)
      const boxes = page.locator('#recipients-found label')
      expect(await boxes.count()).toBe(40)
      await page.getByRole('checkbox', { name: third }).check()
      await page.getByRole('searchbox', { name: 'Filter the agents' }).pressSequentially('worker1')
      await expect.poll(() => boxes.count()).toBe(11)
      expect(await page.getByRole('checkbox', { name: third }).isChecked()).toBe(true)
      await page.getByRole('textbox', { name: 'Message, in Markdown' }).fill('One line.\n\n'.repeat(40))
      const inView = async () => {
        const { y = -1, height = 0 } =
          (await page.getByRole('button', { name: 'Send', exact: true }).boundingBox()) ?? {}
        return y >= 0 && y + height <= desktop.height
      }
      expect(await inView()).toBe(true)
      await page.getByRole('button', { name: 'Preview', exact: true }).click()
      const preview = page.getByRole('region', { name: 'Preview' })
      await preview.waitFor()
      expect(await inView()).toBe(true)
      // Beside the text, and not below it.
      const [text, shown] = [await page.locator('.composer').boundingBox(), await preview.boundingBox()]
      expect(shown?.x).toBeGreaterThanOrEqual((text?.x ?? 0) + (text?.width ?? 0))
    },
  )
})
