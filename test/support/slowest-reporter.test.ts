/** The slowest files of a run, and the costliest. */
import { expect, test } from 'vitest'
import { costliest, slowest } from './slowest-reporter.ts'

const files = Array.from({ length: 30 }, (_, n) => (n * 7) % 30).map((n) => ({
  file: `${n}.test.ts`,
  ms: n * 1000,
  processorMs: 15_000 - n * 500,
}))

test('are ten, the slowest first, in seconds', () => {
  const lines = slowest(files)
  expect(lines.slice(0, 2)).toEqual([
    '   29.0 s,     0.5 s of processor time  29.test.ts',
    '   28.0 s,     1.0 s of processor time  28.test.ts',
  ])
  expect(lines).toHaveLength(10)
})

test('are all of them, those with the most processor time first', () => {
  const lines = costliest(files)
  expect(lines[0]).toBe('    0.0 s,    15.0 s of processor time  0.test.ts')
  expect(lines).toHaveLength(30)
})
