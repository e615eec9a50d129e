/** Faults in the looks of an open page: in both themes, on a desk and on a phone. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page, ViewportSize } from 'playwright-core'
import { desktop, phone, scrollsSideways } from './browser.ts'
import { root } from './sources.ts'

/** With comments it is 1.5 MB, which took 60 ms more in each document. */
const axe = readFileSync(join(root, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The rules that a theme can break; all others look at what is the same in both. */
const colours = ['color-contrast', 'link-in-text-block']

const violations = (only: readonly string[]): string => `axe
  .run({ runOnly: ${JSON.stringify(only)}, resultTypes: ['violations'] })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary].join(': '))))`

type Look = readonly [name: string, viewport: ViewportSize, theme: 'light' | 'dark', rules: readonly string[]]

const everyLook: readonly Look[] = [
  ['light', desktop, 'light', tags],
  ['dark', desktop, 'dark', colours],
  ['dark phone', phone, 'dark', colours],
  ['phone', phone, 'light', tags],
]

/** For a state of a page whose other states are seen in every look. */
export const twoLooks: readonly Look[] = [
  ['light', desktop, 'light', tags],
  ['dark phone', phone, 'dark', tags],
]

/** A page whose documents have axe in them: the browser is sent it once, which takes 60 ms less for each document. */
export async function pageToLookAt(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.addInitScript(axe)
  return page
}

export async function wrongLooks(page: Page, name: string, looks = everyLook): Promise<string[]> {
  const wrong: string[] = []
  for (const [look, viewport, colorScheme, rules] of looks) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // Or the header would hide half of a link.
    await page.evaluate('scrollTo(0, 0)')
    if (await scrollsSideways(page)) wrong.push(`${name}, ${look}: scrolls sideways`)
    const found = (await page.evaluate(violations(rules))) as string[]
    wrong.push(...found.map((one) => `${name}, ${look}: ${one}`))
  }
  return wrong
}
