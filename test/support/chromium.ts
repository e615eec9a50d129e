/** Finds a Chromium for the pages: one that the machine has, else the one inside a package, which is installed once. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { root } from './sources.ts'

/** The first of them is a browser without its own windows, tabs and menus: pages take half the processor time in it. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
]

/**
 * Not the arguments of the package itself: those switch off web security. The limit keeps it from starting a process in advance
 * for each new context, and a page of a test is gone before it has used what V8 optimises for it: a sixth of the time of a run.
 */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--renderer-process-limit=1',
  '--js-flags=--no-opt --no-maglev',
]

/** Undefined where there is none, and none can be had. */
export async function findChromium(): Promise<string | undefined> {
  const { CHROMIUM_PATH, PATH = '' } = process.env
  if (CHROMIUM_PATH) return CHROMIUM_PATH
  const found = [...PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name))), ...places].find(
    existsSync,
  )
  return found ?? (process.platform === 'linux' && process.arch === 'x64' ? await packaged() : undefined)
}

async function packaged(): Promise<string> {
  const home = join(root, 'test/browser/chromium')
  const entry = join(home, 'node_modules/@sparticuz/chromium/build/esm/index.js')
  if (!existsSync(entry))
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: home })
  // It then unpacks the libraries and the font that it needs.
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs22.x'
  // It unpacks into os.tmpdir() and takes what is there for whole: in a folder that checkouts share, one would start what another still writes.
  const { TMPDIR } = process.env
  process.env.TMPDIR = join(home, 'node_modules/.unpacked')
  mkdirSync(process.env.TMPDIR, { recursive: true })
  try {
    const { default: chromium } = (await import(pathToFileURL(entry).href)) as {
      default: { executablePath(): Promise<string> }
    }
    return await chromium.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}
