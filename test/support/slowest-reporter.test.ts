/** The ten slowest files of a run. */
import { expect, test } from 'vitest'
import { slowest } from './slowest-reporter.ts'

test('are ten, the slowest first, in seconds', () => {
  const files = Array.from({ length: 30 }, (_, n) => (n * 7) % 30)
  const lines = slowest(files.map((n) => ({ file: `${n}.test.ts`, ms: n * 1000 })))
  expect(lines.slice(0, 2)).toEqual(['   29.0 s  29.test.ts', '   28.0 s  28.test.ts'])
  expect(lines).toHaveLength(10)
})
