/** Starts one browser for a run with tests of the pages in it. Where there is none they are skipped, and with CI set the run fails. */
import { type BrowserServer, chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { chromiumArgs, findChromium } from './chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests connect to; empty where there is no browser. */
    browserUrl: string
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  project.provide('browserUrl', '')
  if (!(await isWanted(project))) return undefined
  const before = { ...process.env }
  try {
    const executablePath = await findChromium()
    if (executablePath === undefined) throw new Error('No Chromium was found: name one in CHROMIUM_PATH.')
    const first = await chromium.launchServer({ executablePath, args: chromiumArgs, host: '127.0.0.1' })
    const { port, pathname } = new URL(first.wsEndpoint())
    const address = { host: '127.0.0.1', port: Number(port), wsPath: pathname }
    const env = { ...process.env }
    let [server, closing] = [Promise.resolve(first), false]
    // A browser that crashes costs the test that it was in, and not all that come after.
    const keep = (running: BrowserServer): BrowserServer =>
      running.once('close', () => {
        if (closing) return
        process.stderr.write('The browser has crashed; another one is started.\n')
        server = chromium.launchServer({ executablePath, args: chromiumArgs, env, ...address }).then(keep)
      })
    keep(first)
    project.provide('browserUrl', first.wsEndpoint())
    return async () => {
      closing = true
      await (await server).close()
    }
  } catch (error) {
    if (process.env.CI) throw error
    process.stderr.write(`The tests of the pages in a browser are skipped: ${error}\n`)
    return undefined
  } finally {
    // The libraries of a packaged Chromium are for nobody else.
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/** A start takes a second, and the first one a download. Without the names that the run was given it is for all tests. */
async function isWanted(project: TestProject): Promise<boolean> {
  const { filenamePattern } = project.vitest as { filenamePattern?: string[] }
  const { testFiles } = await project.globTestFiles(filenamePattern)
  return testFiles.some((file) => file.includes('/test/browser/'))
}
