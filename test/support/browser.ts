/** The pages in a real browser: one for the run, and for each test a context of its own. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, describe, inject, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/app/open.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { TestClock } from './clock.ts'
import { openTestHub } from './hub.ts'
import { bareEnv, type Served, serveHere, share, temporaryFolder } from './parley.ts'

const endpoint = inject('browserUrl')
if (endpoint === '' && process.env.CI) throw new Error('The tests of the pages have no browser.')

/** A browser that crashes says nothing of the pages: its test is run once more in the next one. */
const crash = /(browser|Browser) (has been )?closed|ECONNREFUSED/

/** Tests that need a browser. */
export const describeInBrowser = (name: string, tests: () => void): void => {
  describe.skipIf(endpoint === '')(name, { retry: { count: 2, delay: 1000, condition: crash } }, tests)
}

export const desktop = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }

/** Opens a context, closed with the test. */
export type OpenContext = (options?: BrowserContextOptions) => Promise<BrowserContext>

/** One connection for all tests of a file, while its browser lives. */
export function shareBrowser(): OpenContext {
  let browser: Browser | undefined
  afterAll(() => browser?.close())
  return async (options = {}) => {
    if (!browser?.isConnected()) browser = await chromium.connect(endpoint)
    const context = await browser.newContext({ viewport: desktop, ...options })
    context.setDefaultTimeout(10_000)
    onTestFinished(() => context.close())
    return context
  }
}

export type Seed = (hub: Hub, clock: TestClock) => Promise<unknown>

/** One server for all tests of a file, over a hub that has something in it. */
export function shareSeeded(seed: Seed, env: Record<string, string> = {}): () => Served {
  return share(async (later) => {
    const storage = await temporaryFolder(later)
    const clock = new TestClock()
    const hub = await openTestHub(await openDatabase(loadConfig(bareEnv(storage))), { clock })
    await seed(hub, clock)
    await hub.close()
    return serveHere({ storage, env, later })
  })
}

/** Faults of a page: dialogs, errors in the console (violations of the policy among them), requests elsewhere. */
export function watchHarm(page: Page, url: string): string[] {
  const harm: string[] = []
  page.on('dialog', (dialog) => {
    harm.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.type() === 'error') harm.push(`console ${message.text()}`)
  })
  page.on('pageerror', (error) => harm.push(`error ${error.message}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) harm.push(`asked ${request.url()}`)
  })
  return harm
}

export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth')

/** The id of the element that has the focus. */
export const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement?.id ?? ""')
