/**
 * Loaded into every thread of the measured server by `--import`: it writes down what the heap of that thread holds, every two seconds.
 * Plain JavaScript, because types would have each thread load a compiler, which takes 20 MB.
 */
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import v8 from 'node:v8'
import { isMainThread, threadId } from 'node:worker_threads'

/** Every timer of the program that has not come and was not taken back. What Node lists as active leaves out those that keep no process alive. */
const set = new Set()
for (const name of ['setTimeout', 'setInterval']) {
  const plain = globalThis[name]
  // With the properties of the plain one, such as its promise form.
  globalThis[name] = Object.assign((...args) => {
    const timer = plain(...args)
    set.add(timer)
    return timer
  }, plain)
}

const everyMs = 2000
const folder = process.env.SOAK_PARTS

/** As `ThreadMemory` in parts.ts has it, and the timers that are set (sight.ts). */
function look() {
  const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage()
  const spaces = v8.getHeapSpaceStatistics()
  const newSpace = spaces.find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
  for (const timer of set) if (timer._destroyed) set.delete(timer)
  const timers = set.size
  return { heapUsed, heapTotal, newSpace, external, arrayBuffers, timers }
}

if (folder !== undefined) {
  const name = isMainThread ? 'main' : `${basename(process.argv[1] ?? 'thread').replace(/\..*/, '')}-${threadId}`
  setInterval(() => writeFileSync(join(folder, name), JSON.stringify(look())), everyMs).unref()
}
