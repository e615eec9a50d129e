/** Names the ten slowest files at the end of a run, so that a file that grew slow is seen before the suite has. */
import type { Reporter, Vitest } from 'vitest/node'

const shown = 10

/** `all` names every file, the one with the most processor time first: that is what the whole run is made of. */
export function slowestReporter({ all = false } = {}): Reporter {
  let vitest: Vitest
  return {
    onInit(started) {
      vitest = started
    },
    onTestRunEnd(modules) {
      // Of a few files the reporter beside this one has said it all.
      if (modules.length <= shown && !all) return
      const files = modules.map((module) => ({
        file: module.relativeModuleId,
        ms: module.diagnostic().duration,
        processorMs: module.meta().processorMs ?? 0,
      }))
      const sum = inSeconds(files.reduce((ms, { processorMs }) => ms + processorMs, 0)).trim()
      vitest.logger.log(`\nProcessor time of workers and their children: ${sum}`)
      vitest.logger.log(
        `The ${all ? 'costliest' : 'slowest'} files:\n${(all ? costliest : slowest)(files).join('\n')}\n`,
      )
    },
  }
}

interface TimedFile {
  readonly file: string
  /** Its tests and hooks. */
  readonly ms: number
  readonly processorMs: number
}

export const slowest = (files: readonly TimedFile[]): string[] =>
  files
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, shown)
    .map(line)

export const costliest = (files: readonly TimedFile[]): string[] =>
  files.toSorted((one, other) => other.processorMs - one.processorMs).map(line)

const line = ({ file, ms, processorMs }: TimedFile): string =>
  `${inSeconds(ms)}, ${inSeconds(processorMs)} of processor time  ${file}`

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(7)} s`
