/** The ten slowest files of a run, the slowest first. */
import { expect, test } from 'vitest'
import { slowest } from './slowest-reporter.ts'

const timed = (ms: number) => ({
  relativeModuleId: `${ms}.test.ts`,
  diagnostic: () => ({
    environmentSetupDuration: 0,
    prepareDuration: 0,
    collectDuration: 0,
    setupDuration: 0,
    duration: ms,
    heap: undefined,
    importDurations: {},
  }),
})

test('are ten, the slowest first, in seconds', () => {
  const lines = slowest(Array.from({ length: 30 }, (_, n) => timed(((n * 7) % 30) * 1000)))
  expect(lines.slice(0, 2)).toEqual(['   29.0 s  29000.test.ts', '   28.0 s  28000.test.ts'])
  expect(lines).toHaveLength(10)
})
