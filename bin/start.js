#!/usr/bin/env node
/** `npm start`, on every system: Windows has no `exec`, and a shell that npm's signal ends passes nothing on to its child. */
import { join } from 'node:path'
import { restartWithMallocSettings } from './malloc.js'
import { isNewEnough, root } from './runtime.js'

// Before anything else: what this process does from here on is not carried over.
if (isNewEnough) restartWithMallocSettings()

/** The parent is npm's shell. Once it is gone, this process ends as a signal would have ended it (all.start.signals). */
const [parent, lookEveryMs] = [process.ppid, 200]
const looking = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(looking)
  process.kill(process.pid, 'SIGTERM')
}, lookEveryMs).unref()

process.argv.splice(1, 1, join(root, 'bin', 'parley.js'), 'serve')
await import('./parley.js')
