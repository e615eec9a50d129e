#!/usr/bin/env node
/** Starts Parley on a Node that can run it. Plain JavaScript, because it begins on one that perhaps cannot. */
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onNode24, root } from './runtime.js'

// Not awaited: what fails in there ends the process with its trace, and a wait that nothing keeps alive is no failure.
void onNode24(() => {
  // Compiled code is kept for the next start. Where the folder cannot be written, Node goes on without.
  module.enableCompileCache(join(root, '.runtime', 'compile-cache'))
  // A checkout runs its source; a published package has none, and carries what was built from it.
  const source = join(root, 'src', 'main.ts')
  return import(pathToFileURL(existsSync(source) ? source : join(root, 'dist', 'main.js')).href)
})
