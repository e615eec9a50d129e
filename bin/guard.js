#!/usr/bin/env node
/** Checks a commit, as the hook that `parley guard install` wrote starts it: on the Node that it names, with what it carries. */
import module from 'node:module'
import { load } from './built.js'
import { compileCache } from './places.js'

const folder = compileCache()
if (folder !== undefined) module.enableCompileCache(folder)
const { guard } = await load('app/guard')
process.exitCode = await guard(JSON.parse(process.argv[2] ?? '{}'), {
  env: process.env,
  cwd: process.cwd(),
  say: (text) => process.stderr.write(text),
})
