/** Loads the program from `dist/`, where `npm ci` and `npm run build` put it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './runtime.js'

/**
 * Loads a part of the program, named as in `src/` and without its ending.
 * @param {string} name
 */
export function load(name) {
  const file = join(root, 'dist', `${name}.js`)
  if (existsSync(file)) return import(pathToFileURL(file).href)
  console.error(`Parley is not built: there is no ${file}. Run npm ci in ${root}, then start Parley again.`)
  process.exit(1)
}
