/** How settings are read: the command line wins over the environment, the environment over the file, the file over the defaults. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { type Config, settings } from './all.ts'
import type { Setting } from './kinds.ts'
import { slipsInEnvironment, strangersInFile } from './nearest.ts'
import { faultsTogether } from './together.ts'

/** Something is wrong with the settings; the message lists every fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface Sources {
  /** Settings by the command line. */
  readonly flags?: Readonly<Record<string, string>>
  /**
   * Whether the `.env` of the working folder counts. It does for a server and for a command that a person types; a client
   * starts its programs in any repository, and what that repository keeps in `.env` is for another program.
   */
  readonly workingFolder?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

export interface Settings {
  readonly config: Config
  /** A sentence for each name that is probably meant to be a setting and is none (serve.config.strangers). */
  readonly warnings: readonly string[]
}

/** The values of all settings, or a ConfigError with every fault. */
export const loadConfig = (env: Environment, sources?: Sources): Config => readSettings(env, sources).config

export function readSettings(env: Environment, { flags = {}, workingFolder = false }: Sources = {}): Settings {
  const faults: string[] = []
  const wanted = env.PARLEY_ENV_FILE || undefined
  const path = wanted ?? (workingFolder ? settings.PARLEY_ENV_FILE.default : undefined)
  const file = path === undefined ? {} : envFile(path, wanted !== undefined, faults)
  const config: Record<string, unknown> = {}
  for (const [name, row] of Object.entries<Setting<unknown>>(settings)) {
    // An empty value counts as unset: compose files and CI hand those over.
    const raw = [flags[name], env[name], file[name]].find((value) => value !== undefined && value !== '') ?? row.default
    try {
      config[name] = row.parse(raw)
    } catch (error) {
      const given = row.secret ? '' : `, not ${JSON.stringify(raw)}`
      faults.push(`${name} ${error instanceof Error ? error.message : String(error)}${given}`)
    }
  }
  if (faults.length === 0) faults.push(...faultsTogether(config as Config))
  if (faults.length > 0)
    throw new ConfigError(
      `Parley cannot start with these settings:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\nEvery setting is explained in docs/config.md.`,
    )
  const warnings = [...strangersInFile(path ?? '', Object.keys(file)), ...slipsInEnvironment(Object.keys(env))]
  return { config: config as Config, warnings }
}

function envFile(path: string, wanted: boolean, faults: string[]): NodeJS.Dict<string> {
  if (!existsSync(path)) {
    if (wanted) faults.push(`PARLEY_ENV_FILE names ${JSON.stringify(path)}, which does not exist`)
    return {}
  }
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    faults.push(
      `PARLEY_ENV_FILE ${JSON.stringify(path)} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
    return {}
  }
}
