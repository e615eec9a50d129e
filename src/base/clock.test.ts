import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { every } from './clock.ts'

test('What runs every so often runs in one turn with others of the same period, until it is stopped', async () => {
  const turns: number[][] = [[], []]
  const stops = turns.map((turn) => every(30, () => turn.push(performance.now())))
  await sleep(10)
  const before = turns.map((turn) => turn.length)
  const late: number[] = []
  stops.push(every(30, () => late.push(performance.now())))
  await expect.poll(() => late.length).toBeGreaterThan(1)
  expect(turns.map((turn, n) => turn.length - (before[n] ?? 0))).toEqual([late.length, late.length])

  stops[0]?.()
  const stopped = turns[0]?.length
  const going = late.length
  await expect.poll(() => late.length).toBeGreaterThan(going)
  expect(turns[0]?.length).toBe(stopped)
  for (const stop of stops) stop()
  const ended = late.length
  await sleep(70)
  expect(late.length).toBe(ended)
})
