/** How settings are read: the command line, the environment, three files, the defaults; the first that has a value wins. */
import { type Config, settings } from './all.ts'
import { faultsTogether } from './conflicting-settings.ts'
import { envFile, settingsFiles } from './files.ts'
import type { Setting } from './kinds.ts'
import { slipsInEnvironment, strangersInFile } from './nearest.ts'

/** Something is wrong with the settings; the message lists every fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

interface Sources {
  /** Settings by the command line. */
  readonly flags?: Readonly<Record<string, string>>
  /** The folder of the checkout that Parley runs from, if it does: its `.env` counts. */
  readonly checkout?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

export interface Settings {
  readonly config: Config
  /** Where each setting has its value from: `command line`, `environment`, the path of a file, or `default`. */
  readonly sources: Readonly<Record<string, string>>
  /** A sentence for each name that is probably meant to be a setting and is none (serve.config.strangers). */
  readonly warnings: readonly string[]
}

/** The values of all settings, or a ConfigError with every fault. */
export const loadConfig = (env: Environment, sources?: Sources): Config => readSettings(env, sources).config

/** Never from the working folder: the `.env` there belongs to the user's own application (serve.config.sources). */
export function readSettings(env: Environment, { flags = {}, checkout }: Sources = {}): Settings {
  const faults: string[] = []
  const files = settingsFiles(env, checkout).map((path) => ({
    path,
    values: envFile(path, path === env.PARLEY_ENV_FILE, faults),
  }))
  const places = [
    { name: 'command line', values: flags },
    { name: 'environment', values: env },
    ...files.map(({ path, values }) => ({ name: path, values })),
  ]
  const config: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  for (const [name, row] of Object.entries<Setting<unknown>>(settings)) {
    // An empty value counts as unset: compose files and CI hand those over.
    const place = places.find(({ values }) => (values[name] ?? '') !== '')
    const raw = place?.values[name] ?? row.default
    sources[name] = place?.name ?? 'default'
    try {
      config[name] = row.parse(raw)
    } catch (error) {
      const given = row.secret ? '' : `, not ${JSON.stringify(raw)}`
      faults.push(`${name} ${error instanceof Error ? error.message : String(error)}${given} (${sources[name]})`)
    }
  }
  if (faults.length === 0)
    faults.push(...faultsTogether(config as Config).map((fault) => `${fault}${sourcesIn(fault, sources)}`))
  if (faults.length > 0)
    throw new ConfigError(
      `Parley cannot start with these settings:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\nEvery setting is explained in docs/settings.md; \`parley config show\` shows where each comes from.`,
    )
  const warnings = [
    ...files.flatMap(({ path, values }) => strangersInFile(path, Object.keys(values))),
    ...slipsInEnvironment(Object.keys(env)),
  ]
  return { config: config as Config, sources, warnings }
}

/** Where the settings that a sentence names come from, those that somebody has set. */
export function sourcesIn(fault: string, sources: Readonly<Record<string, string>>): string {
  const names = new Set([...fault.matchAll(/[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+/g)].map(([name]) => name))
  const told = [...names].flatMap((name) =>
    sources[name] === undefined || sources[name] === 'default' ? [] : [`${name}: ${sources[name]}`],
  )
  return told.length === 0 ? '' : ` (${told.join(', ')})`
}
