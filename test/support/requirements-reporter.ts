/** Fails a run of the whole suite if a promise of test/requirements.ts was verified by no test that passed. */
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { requirements } from '../requirements.ts'

export function requirementsReporter(promised: readonly { readonly id: string }[] = requirements): Reporter {
  let vitest: Vitest
  return {
    onInit(started) {
      vitest = started
    },
    async onTestRunEnd(modules, _errors, reason) {
      // A failed run says enough already; what a broken test verifies would only be noise.
      if (reason !== 'passed' || !(await isWhole(vitest, modules))) return
      const missing = unverified(promised, modules)
      if (missing.length === 0) return
      vitest.logger.error(`\nNo passing test verifies: ${missing.join(', ')} (test/requirements.ts)\n`)
      process.exitCode = 1
    },
  }
}

/** Nobody asked for a part of the suite. A test marked `only` is not asking: left in, it hides the others. */
async function isWhole(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  const { watch, testNamePattern } = vitest.config
  if (watch || testNamePattern !== undefined) return false
  const ran = new Set(modules.map(({ moduleId }) => moduleId))
  const all = await vitest.globTestSpecifications()
  return all.every(({ moduleId }) => ran.has(moduleId))
}

/** Skipped tests verify nothing; one that passed on one engine and was skipped on the other does. */
function unverified(promised: readonly { readonly id: string }[], modules: readonly TestModule[]): string[] {
  const verified = new Set<string>()
  for (const module of modules)
    for (const test of module.children.allTests('passed')) for (const id of test.meta().verifies ?? []) verified.add(id)
  return promised.map(({ id }) => id).filter((id) => !verified.has(id))
}
