/** Builds the program before the tests, and again before those that a change brings: many of them start `bin/parley.js`. */
import type { TestProject } from 'vitest/node'
import { build } from '../../scripts/build.ts'

export async function setup(project: TestProject): Promise<void> {
  await build()
  project.onTestsRerun(build)
}
