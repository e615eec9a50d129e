/** The end of measuring a process: it comes with the end of the server that asked for it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { nextTurn } from './clock.ts'
import { Meters } from './meters.ts'
import { collectProcessMetrics } from './process-metrics.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('Collections are counted until it is told to end', async () => {
  const meters = new Meters()
  const end = collectProcessMetrics(meters)
  const counted = async () => Number(/gc_duration_seconds_count\{kind="major"\} (\d+)/.exec(await meters.text())?.[1])
  collect()
  await expect.poll(counted).toBeGreaterThan(0)
  end()
  const before = await counted()
  collect()
  await nextTurn()
  expect(await counted()).toBe(before)
})
