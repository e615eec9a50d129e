/** Where the launcher keeps what it fetches and compiles: in the checkout or package, else in the cache of the user. */
import { accessSync, constants, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { root } from './runtime.js'

/** Of the package first, for one download serves all of its users (all.runtime.cache). */
export function places() {
  const { XDG_CACHE_HOME: named = '' } = process.env
  return [join(root, '.runtime'), join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'parley')]
}

/** The first that can be written, made if need be. Throws the reason of the last one if none can: a root-owned package, a HOME that is read-only. */
export function writablePlace() {
  let reason
  for (const folder of places()) {
    try {
      mkdirSync(folder, { recursive: true })
      accessSync(folder, constants.W_OK)
      return folder
    } catch (error) {
      reason = error
    }
  }
  throw reason
}

/** Compiled code is kept for the next start; undefined where it cannot be. */
export function compileCache() {
  try {
    return join(writablePlace(), 'compile-cache')
  } catch {
    return undefined
  }
}
