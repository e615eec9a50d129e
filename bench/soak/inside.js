/**
 * Loaded into every thread of the measured server by `--import`: it writes down what the heap of that thread holds, every two seconds.
 * Plain JavaScript, because types would have each thread load a compiler, which takes 20 MB.
 */
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import v8 from 'node:v8'
import { isMainThread, threadId } from 'node:worker_threads'

const everyMs = 2000
const folder = process.env.SOAK_PARTS

/** As `ThreadMemory` in parts.ts has it. */
function look() {
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage()
  const spaces = v8.getHeapSpaceStatistics()
  const newSpace = spaces.find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
  return { heapUsed, heapTotal, newSpace, external, arrayBuffers }
}

if (folder !== undefined) {
  const name = isMainThread ? 'main' : `${basename(process.argv[1] ?? 'thread').replace(/\..*/, '')}-${threadId}`
  setInterval(() => writeFileSync(join(folder, name), JSON.stringify(look())), everyMs).unref()
}
