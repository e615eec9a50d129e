#!/usr/bin/env node
/** Checks a commit, as the hook that `parley guard install` wrote starts it: on the Node that it names, with what it carries. */
import module from 'node:module'
import { join } from 'node:path'
import { partOf } from './built.js'
import { root } from './runtime.js'

module.enableCompileCache(join(root, '.runtime', 'compile-cache'))
const { guard } = await import(partOf('app/guard'))
process.exitCode = await guard(JSON.parse(process.argv[2] ?? '{}'), {
  env: process.env,
  cwd: process.cwd(),
  say: (text) => process.stderr.write(text),
})
