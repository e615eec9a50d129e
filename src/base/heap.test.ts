import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

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
