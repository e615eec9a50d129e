/** Times, as people tell them and as programs do. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from '../../../test/support/verifies.ts'
import { ago, clock, hence, iso, isoOrNull, seconds } from './times.ts'

verifies('cli.topics.terminal', 'times are told as people tell them', () => {
  const now = Date.UTC(2026, 5, 30, 12)
  const ages: [number, string][] = [
    [-5, 'just now'],
    [9, 'just now'],
    [42, '42 s ago'],
    [3 * 60, '3 min ago'],
    [5 * 3600, '5 h ago'],
    [30 * 3600, 'yesterday'],
    [12 * 86_400, '12 days ago'],
    [90 * 86_400, '2026-04-01'],
  ]
  for (const [seconds, told] of ages) expect(ago(now - seconds * 1000, now)).toBe(told)
  expect(clock(now, now)).toMatch(/^\d\d:\d\d:\d\d$/)
  expect(clock(now - 3 * 86_400_000, now)).toMatch(/^2026-06-2\d \d\d:\d\d:\d\d$/)
})

test('what is still to come is told in the largest unit that is exact enough', () => {
  const now = Date.UTC(2026, 5, 30, 12)
  const waits: [number, string][] = [
    [42, 'in 42 s'],
    [61, 'in 2 min'],
    [47 * 3600, 'in 47 h'],
    [3 * 86_400, '2026-07-03'],
  ]
  for (const [seconds, told] of waits) expect(hence(now + seconds * 1000, now)).toBe(told)
})

test('programs get ISO 8601 in UTC, or seconds with their fraction', () => {
  expect([iso(0), isoOrNull(1500), isoOrNull(undefined)]).toEqual([
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:01.500Z',
    null,
  ])
  expect(seconds(1500)).toBe(1.5)
})

test('a time in ISO 8601 is as Date writes it, whichever day came before', () => {
  const limit = 8.64e15
  const time = fc.oneof(
    fc.integer({ min: 0, max: 4e12 }),
    fc.maxSafeInteger().filter((ms) => Math.abs(ms) <= limit),
  )
  fc.assert(fc.property(time, (ms) => iso(ms) === new Date(ms).toISOString()))
  for (const ms of [0, -1, 86_399_999, 86_400_000, limit, -limit]) expect(iso(ms)).toBe(new Date(ms).toISOString())
  expect(() => iso(Number.NaN)).toThrow(RangeError)
})
