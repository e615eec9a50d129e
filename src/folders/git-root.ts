/** The folder of the repository around a folder. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export function gitRoot(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return undefined
  }
}
