import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { verifies } from '../../test/support/verifies.ts'
import { systemClock } from './clock.ts'
import { Crowd, giveBackAtRest } from './heap.ts'

const module = JSON.stringify(new URL('./heap.ts', import.meta.url).href)

const run = (program: string): unknown => {
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

/** In a process of its own: the heap of this one may be as large as it gets. */
const program = `
  import v8 from 'node:v8'
  import { holdNewSpace } from ${module}
  const fill = () => {
    for (let n = 0, kept = []; n < 1e6; n++) kept.push({ n })
    return v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
  }
  const release = holdNewSpace()
  const held = fill()
  release()
  console.log(JSON.stringify([held, fill()]))`

test('The new space of the heap is held at its size, and grows once it is released', () => {
  const [held, released] = run(program) as [number, number]
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

verifies('serve.memory.rest', 'What a busy time left is collected once, at rest, where it is worth it', () => {
  const clock = new TestClock()
  let [held, collected, share] = [50, 0, 0]
  const collect = () => {
    collected++
    held = 60
  }
  const end = giveBackAtRest(clock, { collect, held: () => held, busy: () => share })
  const look = (of: { held?: number; share?: number }) => {
    held = of.held ?? held
    share = of.share ?? 0
    clock.advance(10_000)
    return collected
  }
  expect(look({ held: 60 })).toBe(0)
  expect(look({ held: 150, share: 0.8 })).toBe(0)
  expect(look({})).toBe(1)
  expect(look({})).toBe(1)
  expect(look({ held: 70 })).toBe(1)
  expect(look({ held: 90 })).toBe(2)
  end()
  expect(clock.pending).toBe(0)
})
