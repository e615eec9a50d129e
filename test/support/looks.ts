/** Faults in the looks of an open page: in both themes, on a desk and on a phone. */
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { desktop, phone, scrollsSideways } from './browser.ts'

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** The rules that a theme can break; all others look at what is the same in both. */
const colours = ['color-contrast', 'link-in-text-block']

const violations = (only: readonly string[]): string => `axe
  .run({ runOnly: ${JSON.stringify(only)}, resultTypes: ['violations'] })
  .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary].join(': '))))`

export async function wrongLooks(page: Page, name: string): Promise<string[]> {
  const wrong: string[] = []
  await page.evaluate(axe.source)
  for (const [look, viewport, colorScheme, rules] of [
    ['light', desktop, 'light', tags],
    ['dark', desktop, 'dark', colours],
    ['dark phone', phone, 'dark', colours],
    ['phone', phone, 'light', tags],
  ] as const) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    if (await scrollsSideways(page)) wrong.push(`${name}, ${look}: scrolls sideways`)
    const found = (await page.evaluate(violations(rules))) as string[]
    wrong.push(...found.map((one) => `${name}, ${look}: ${one}`))
  }
  return wrong
}
