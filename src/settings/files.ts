/** The files that settings are read from, beside the environment. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
// Not by name: a Node before 20.12 has no parseEnv, and runs `parley wait` all the same.
import util from 'node:util'

type Environment = Readonly<Record<string, string | undefined>>

/** The files that hold settings, the first wins. */
export const settingsFiles = (
  { PARLEY_ENV_FILE: named, HOME, USERPROFILE }: Environment,
  checkout: string | undefined,
) => {
  const home = HOME || USERPROFILE
  return [named, checkout && join(checkout, '.env'), home && join(home, '.parley', '.env')].filter(
    (path): path is string => path !== undefined && path !== '',
  )
}

/** The values of a file. Its faults are added to `faults`, a missing file only if somebody `wanted` it. */
export function envFile(path: string, wanted: boolean, faults: string[]): NodeJS.Dict<string> {
  if (!existsSync(path)) {
    if (wanted) faults.push(`PARLEY_ENV_FILE names ${JSON.stringify(path)}, which does not exist`)
    return {}
  }
  try {
    return util.parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    faults.push(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    return {}
  }
}
