/** Pictures of every page, from a seeded hub: light, dark, on a phone, of an empty hub and of one with hostile content; with `--readme` that of README.md too. */
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Browser, chromium } from 'playwright-core'
import { openDatabase } from '../src/app/open.ts'
import { startServer } from '../src/app/serve.ts'
import { loadConfig } from '../src/settings/read.ts'
import { seedBoard } from '../test/support/board.ts'
import { chromiumArgs, findChromium } from '../test/support/chromium.ts'
import { TestClock } from '../test/support/clock.ts'
import { seedHostile } from '../test/support/hostile.ts'
import { openTestHub } from '../test/support/hub.ts'
import { seedHub, seedSealed } from '../test/support/seeded.ts'
import { pagesOf } from '../test/support/seeded-pages.ts'
import { root } from '../test/support/sources.ts'

const args = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const to = join(root, args[0] ?? 'coverage/shots')
/** Names of pages, separated by commas; all of them, if left out. */
const only = args[1]

type Seed = (hub: Awaited<ReturnType<typeof openTestHub>>, clock: TestClock) => Promise<unknown>

async function serveSeeded(seed: Seed) {
  const storage = await mkdtemp(join(tmpdir(), 'parley-shots-'))
  const config = loadConfig({ STORAGE_ROOT: storage, HOME: storage, HTTP_PORT: '0', ARCHIVE_ENABLED: 'false' })
  const clock = new TestClock()
  const hub = await openTestHub(await openDatabase(config), { clock })
  await seed(hub, clock)
  await hub.close()
  const server = await startServer(config, pino({ level: 'warn' }, pino.destination(2)))
  return { url: server.url, end: () => server.stop().then(() => rm(storage, { recursive: true, force: true })) }
}

interface Look {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly dark?: boolean
}

async function shoot(browser: Browser, url: string, looks: readonly Look[]): Promise<void> {
  const pages = await pagesOf(url)
  for (const { name, width, height, dark = false } of looks) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' })
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404')) console.error(`${name}: ${message.text()}`)
    })
    for (const [title, path] of Object.entries(pages)) {
      if (only !== undefined && !only.split(',').includes(title)) continue
      await page.goto(url + path, { waitUntil: 'load' })
      const sideways = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
      if (sideways) console.error(`${name}: ${title} scrolls sideways`)
      await page.screenshot({ path: join(to, `${name}-${title}.png`), fullPage: name !== 'light' })
    }
    await context.close()
  }
}

const desktop = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

const path = await findChromium()
if (path === undefined) throw new Error('No Chromium was found: name one in CHROMIUM_PATH.')
await mkdir(to, { recursive: true })
const browser = await chromium.launch({ executablePath: path, args: chromiumArgs })
const worlds: readonly (readonly [Seed, readonly Look[]])[] = [
  [
    async (hub, clock) => {
      await seedHub(hub, clock, Date.now())
      await seedSealed(hub)
      await seedBoard(hub, clock, Date.now())
    },
    [
      { name: 'light', ...desktop },
      { name: 'dark', ...desktop, dark: true },
      { name: 'phone', ...phone },
    ],
  ],
  [async () => {}, [{ name: 'empty', ...desktop }]],
  [(hub, clock) => seedHostile(hub, clock), [{ name: 'hostile', ...desktop }]],
]
for (const [seed, looks] of worlds) {
  const served = await serveSeeded(seed)
  await shoot(browser, served.url, looks)
  await served.end()
}
await browser.close()
if (process.argv.includes('--readme')) await copyFile(join(to, 'light-agents.png'), join(root, 'docs/pages.png'))
console.log(`The pictures are in ${to}.`)
process.exit(0)
