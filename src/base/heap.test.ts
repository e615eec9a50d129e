import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'
import { Crowd } from './heap.ts'

/** In a process of its own: the heap of this one may be as large as it gets. */
const program = `
  import v8 from 'node:v8'
  import { holdNewSpace } from ${JSON.stringify(new URL('./heap.ts', import.meta.url).href)}
  const fill = () => {
    for (let n = 0, kept = []; n < 1e6; n++) kept.push({ n })
    return v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
  }
  const release = holdNewSpace()
  const held = fill()
  release()
  console.log(JSON.stringify([held, fill()]))`

test('The new space of the heap is held at its size, and grows once it is released', () => {
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program]
  const [held, released] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as [number, number]
  expect(held).toBeLessThan(12e6)
  expect(released).toBeGreaterThan(16e6)
})

test('While more and more come the new space is held, and not while they are as many as before', () => {
  const timers: (() => void)[] = []
  let held = 0
  const hold = () => {
    held++
    return () => {
      held--
    }
  }
  const after = (_ms: number, fn: () => void) => {
    timers.push(fn)
    return () => {}
  }
  const crowd = new Crowd({ ...systemClock, after }, hold)
  const calm = () => {
    while (timers.length > 0) timers.shift()?.()
  }
  for (let count = 1; count <= 100; count++) crowd.note(count)
  expect(held).toBe(0)
  for (let count = 101; count <= 300; count++) crowd.note(count)
  expect([held, timers.length]).toEqual([1, 1])
  timers.shift()?.()
  expect(held).toBe(1)
  calm()
  expect(held).toBe(0)
  for (const count of [300, 290, 300]) crowd.note(count)
  expect(held).toBe(0)
  // They went, and come again.
  for (const count of [120, 250]) crowd.note(count)
  expect(held).toBe(1)
  calm()
  expect(held).toBe(0)
})
