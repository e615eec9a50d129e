#!/usr/bin/env node
/** Starts Parley on a Node that can run it. Plain JavaScript, because it begins on one that perhaps cannot. */
import module from 'node:module'
import { load } from './built.js'
import { restartWithMallocSettings } from './malloc.js'
import { compileCache } from './places.js'
import { onNode24, runsWaker } from './runtime.js'

const [, , command, ...rest] = process.argv
const asksForHelp = rest.includes('--help') || rest.includes('-h')
const isWaker = runsWaker && ['wait', 'hook', 'attach'].includes(command) && !asksForHelp

// Not awaited: what fails in there ends the process with its trace, and a wait that nothing keeps alive is no failure.
void (isWaker ? startWaker() : onNode24(start))

function start() {
  if (process.argv[2] === 'serve') restartWithMallocSettings()
  // Compiled code is kept for the next start. Where no folder can be written, Node goes on without. Threads and processes
  // that Parley starts find it by the variable: without it each loads a compiler, which takes 20 MB and 100 ms.
  const folder = process.env.NODE_COMPILE_CACHE ?? compileCache()
  if (folder !== undefined) {
    process.env.NODE_COMPILE_CACHE = folder
    module.enableCompileCache(folder)
  }
  return load('main')
}

async function startWaker() {
  // Without the cache of compiled code, which saves nothing on one small file, and which Node 20 has not.
  const { waker } = await load('app/waker')
  process.exit(await waker(process.argv.slice(2), process))
}
