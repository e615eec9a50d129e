#!/usr/bin/env node
/** Starts Parley on a Node that can run it. Plain JavaScript, because it begins on one that perhaps cannot. */
import module from 'node:module'
import { join } from 'node:path'
import { partOf } from './built.js'
import { onNode24, root } from './runtime.js'

// Not awaited: what fails in there ends the process with its trace, and a wait that nothing keeps alive is no failure.
void onNode24(() => {
  // Compiled code is kept for the next start. Where the folder cannot be written, Node goes on without. Threads and processes
  // that Parley starts find it by the variable: without it each loads a compiler, which takes 20 MB and 100 ms.
  process.env.NODE_COMPILE_CACHE ??= join(root, '.runtime', 'compile-cache')
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  return import(partOf('main'))
})
