/** Builds the program before the tests, and again before those that a change brings: many of them start `bin/parley.js`. Some install it. */
import type { TestProject } from 'vitest/node'
import { build } from '../../scripts/build.ts'
import { servePackage } from './package-server.ts'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build()
  const served = await servePackage()
  project.provide('packageUrl', served.url)
  project.onTestsRerun(async () => {
    await build()
    served.forget()
  })
  return served.close
}
