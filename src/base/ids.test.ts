/** Ids: unique, in order, and of the right form, whatever the clock does. */
import { describe, expect, test } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { createIds } from './ids.ts'

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const expectInOrder = (made: readonly string[]) => {
  expect(new Set(made).size).toBe(made.length)
  expect(made.toSorted()).toEqual(made)
  for (const id of made) expect(id).toMatch(uuid7)
}

describe('A uuid', () => {
  test('holds the time it was made', () => {
    const clock = new TestClock(Date.UTC(2026, 6, 28, 12))
    const id = createIds(clock).uuid()
    expect(id).toMatch(uuid7)
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(clock.now())
  })

  test('sorts after those before it, more of them than a millisecond has room for', () => {
    const ids = createIds(new TestClock())
    expectInOrder(Array.from({ length: 3 * 4096 + 10 }, () => ids.uuid()))
  })

  test('sorts after those before it when the clock runs on, stands still or runs backwards', () => {
    const clock = new TestClock()
    const ids = createIds(clock)
    const made = [0, 0, 1, 5000, 0, -1, -3_600_000, 0, 1, 1, -10, 3_700_000].flatMap((ms) => {
      clock.advance(ms)
      return [ids.uuid(), ids.uuid()]
    })
    expectInOrder(made)
  })

  test('goes on in order when a burst ran ahead of the clock, which then catches up', () => {
    const clock = new TestClock()
    const ids = createIds(clock)
    const made = Array.from({ length: 5000 }, () => ids.uuid())
    for (let n = 0; n < 5; n++) {
      clock.advance(1)
      made.push(ids.uuid())
    }
    expectInOrder(made)
  })

  test('differs from those another process makes in the same millisecond', () => {
    const clock = new TestClock()
    const [one, two] = [createIds(clock), createIds(clock)]
    const made = Array.from({ length: 5000 }, () => [one.uuid(), two.uuid()]).flat()
    expect(new Set(made).size).toBe(made.length)
  })
})

describe('A token', () => {
  test('is 128 bits that do not repeat', () => {
    const ids = createIds(new TestClock())
    const made = Array.from({ length: 5000 }, () => ids.token())
    expect(new Set(made).size).toBe(made.length)
    for (const token of made) expect(token).toMatch(/^[\w-]{22}$/)
  })

  test('shares no bytes with what is made before and after it', () => {
    const ids = createIds(new TestClock())
    const made = Array.from({ length: 1000 }, () => {
      ids.uuid()
      return Buffer.from(ids.token(), 'base64url').toString('hex')
    })
    const halves = made.flatMap((hex) => [hex.slice(0, 16), hex.slice(16)])
    expect(new Set(halves).size).toBe(halves.length)
  })
})

test('A number below a count is any of them, and no other', () => {
  const ids = createIds(new TestClock())
  const drawn = Array.from({ length: 5000 }, () => ids.below(10))
  expect(new Set(drawn)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
  expect(ids.below(1)).toBe(0)
})
