#!/usr/bin/env node
/** `npm ci` builds the program with this, unless it came built and without the tools for that, as a published package does. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { onNode24, root } from './runtime.js'

const has = (...path) => existsSync(join(root, ...path))

if (has('scripts', 'build.ts') && has('node_modules', 'rolldown')) {
  // Not awaited: a build that fails ends the process with its trace, and npm ci with it.
  void onNode24(async () => (await import('../scripts/build.ts')).build())
} else if (!has('dist', 'main.js')) {
  console.error(
    'Parley is not built, and the packages that build it are left out here (npm omits devDependencies).\n' +
      'Run npm ci --include=dev, or copy the folder dist from a checkout that is built.',
  )
  process.exitCode = 1
}
