/** Names the ten slowest files at the end of a run, so that a file that grew slow is seen before the suite has. */
import type { Reporter, Vitest } from 'vitest/node'

const shown = 10

export function slowestReporter(): Reporter {
  let vitest: Vitest
  return {
    onInit(started) {
      vitest = started
    },
    onTestRunEnd(modules) {
      // Of a few files the reporter beside this one has said it all.
      if (modules.length <= shown) return
      const files = modules.map((module) => ({ file: module.relativeModuleId, ms: module.diagnostic().duration }))
      vitest.logger.log(`\nThe slowest files:\n${slowest(files).join('\n')}\n`)
    },
  }
}

interface TimedFile {
  readonly file: string
  /** Its tests and hooks. */
  readonly ms: number
}

export function slowest(files: readonly TimedFile[]): string[] {
  return files
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, shown)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)
}
