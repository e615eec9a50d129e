#!/usr/bin/env node
/** Checks a commit, as the hook that `parley guard install` wrote starts it: on the Node that it names, with what it carries. */
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './runtime.js'

module.enableCompileCache(join(root, '.runtime', 'compile-cache'))
const source = join(root, 'src', 'app', 'guard.ts')
const { guard } = await import(pathToFileURL(existsSync(source) ? source : join(root, 'dist', 'app', 'guard.js')).href)
process.exitCode = await guard(JSON.parse(process.argv[2] ?? '{}'), {
  env: process.env,
  cwd: process.cwd(),
  say: (text) => process.stderr.write(text),
})
