import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { verifies } from '../../test/support/verifies.ts'
import { giveBackAtRest } from './heap.ts'

const module = JSON.stringify(new URL('./heap.ts', import.meta.url).href)

const run = (program: string): unknown => {
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

/** In a process of its own: the heap of this one may be as large as it gets. */
const program = `
  import v8 from 'node:v8'
  import { isMainThread, parentPort, Worker } from 'node:worker_threads'
  import { boundHeap, workerLimits } from ${module}
  const size = () => v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
  const fill = async () => {
    for (let turn = 0, kept = []; turn < 40; turn++) {
      kept = [...kept.slice(-9), Array.from({ length: 1e5 }, (_, n) => ({ n }))]
      await new Promise(setImmediate)
    }
    return size()
  }
  if (isMainThread) {
    const started = boundHeap()
    const starting = await fill()
    started()
    const working = await fill()
    new Worker(process.execArgv.at(-1), { eval: true, resourceLimits: workerLimits }).on('message', (worker) =>
      console.log(JSON.stringify({ starting, working, worker })))
  } else parentPort.postMessage(size())`

test('The new space of a server does not grow while it starts, and a little while it works; that of a worker has its size at once', () => {
  const { starting, working, worker } = run(program) as Record<'starting' | 'working' | 'worker', number>
  expect(starting).toBeLessThan(12e6)
  expect(working).toBeGreaterThan(12e6)
  // Two collections may come before the look that ends the growing.
  expect(working).toBeLessThanOrEqual(32 << 20)
  expect(worker).toBeGreaterThan(8e6)
  expect(worker).toBeLessThanOrEqual(16 << 20)
})

test('A collection at rest gives back old objects too, without holding up the program for it', () => {
  const [before, after] = run(`
    import v8 from 'node:v8'
    import { systemClock } from ${JSON.stringify(new URL('./clock.ts', import.meta.url).href)}
    import { giveBackAtRest } from ${module}
    const old = () => v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size
    let look
    giveBackAtRest({ ...systemClock, after: (_ms, fn) => { look = fn; return () => {} } }, { busy: () => 0 })
    let kept = []
    for (let n = 0; n < 1e6; n++) kept.push({ n })
    kept = []
    const before = old()
    look()
    const began = Date.now()
    while (old() > before / 2 && Date.now() - began < 20_000) await new Promise((resolve) => setTimeout(resolve, 20))
    console.log(JSON.stringify([before, old()]))`) as [number, number]
  expect(after).toBeLessThan(before / 2)
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
