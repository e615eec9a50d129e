#!/usr/bin/env node
/** Runs a script, or the program of a package of that name, on a Node that can run Parley: `node bin/node24.js vitest run`. */
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { join, resolve } from 'node:path'
import { onNode24, root } from './runtime.js'

// Not awaited: what fails in there ends the process with its trace, and a wait that nothing keeps alive is no failure.
void onNode24(() => {
  const [node, , name, ...args] = process.argv
  if (!name) throw new Error('usage: node bin/node24.js <script or package> [arguments]')
  process.argv = [node, find(name), ...args]
  // Not import(): the script is to be the main module in every respect, import.meta.main included.
  module.runMain()
})

function find(name) {
  const folder = join(root, 'node_modules', name)
  if (!existsSync(join(folder, 'package.json'))) return resolve(name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[name])
}
