/** Names the ten slowest files at the end of a run, so that a file that grew slow is seen before the suite has. */
import type { Reporter, TestModule, Vitest } from 'vitest/node'

const shown = 10

export function slowestReporter(): Reporter {
  let vitest: Vitest
  return {
    onInit(started) {
      vitest = started
    },
    onTestRunEnd(modules) {
      // Of a few files the reporter beside this one has said it all.
      if (modules.length > shown) vitest.logger.log(`\nThe slowest files:\n${slowest(modules).join('\n')}\n`)
    },
  }
}

type Timed = Pick<TestModule, 'relativeModuleId' | 'diagnostic'>

/** Each with its tests and hooks, in seconds. */
export function slowest(modules: readonly Timed[]): string[] {
  return modules
    .map((module) => ({ file: module.relativeModuleId, ms: module.diagnostic().duration }))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, shown)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)
}
