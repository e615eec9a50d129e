/** Settings → what guards are told of this installation, and what `parley guard` does without the store. */
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseDatabaseUrl } from '../db/url.ts'
import type { GuardState, GuardSteering } from '../doors/cli/guard/guard.ts'
import type { Block, Carried } from '../guard/hook.ts'
import { hookState, type Installation, uninstallHook } from '../guard/install.ts'
import type { Config } from '../settings/all.ts'
import { guard } from './guard.ts'
import { serverUrl } from './running.ts'

/** `url` is where the server listens; by default, where the settings say. The URL of a PostgreSQL has a password, and stays here. */
export function guardInstallation(config: Config, url = serverUrl(config)): Installation {
  const place = parseDatabaseUrl(config.DATABASE_URL ?? `sqlite:${join(config.STORAGE_ROOT, 'parley.sqlite3')}`)
  return {
    node: process.execPath,
    script: fileURLToPath(new URL('../../bin/guard.js', import.meta.url)),
    storage_root: config.STORAGE_ROOT,
    ...(place.dialect === 'sqlite' && { database: place.file }),
    // The hook asks over HTTP alone.
    ...(url?.startsWith('http') && { server: `${url}${config.HTTP_PATH}` }),
  }
}

interface Around {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stderr: { write(text: string): unknown }
}

export const guardSteering = (config: () => Config, { env, stderr }: Around): GuardSteering => ({
  installation: () => guardInstallation(config()),
  uninstall: uninstallHook,
  state: async (folder) => toState(await hookState(folder)),
  carried: async (folder) => (await hookState(folder)).block?.carried,
  check: async (carried, cwd) => (await guard(carried, { env, cwd, say: (text) => void stderr.write(text) })) === 0,
})

function toState({ hook, block, chained }: Awaited<ReturnType<typeof hookState>>): GuardState {
  return {
    hook,
    installed: block !== undefined,
    project: block?.carried?.project,
    store: block?.carried && storeOf(block.carried),
    chained,
    faults: block === undefined ? [] : faultsOf(block, hook),
  }
}

/** Where the guard looks: PostgreSQL is asked by way of its server, because the hook carries no password. */
const storeOf = ({ database, server }: Carried): string | undefined =>
  database === undefined ? server && `PostgreSQL, by ${server}` : `SQLite ${database}`

function faultsOf({ carried, programs }: Block, hook: string): string[] {
  if (carried === undefined || programs === undefined) return ['Somebody has changed the guard; it cannot be read.']
  const { node, script } = programs
  return [
    ...(mayRun(hook) ? [] : ['The hook is not executable: git does not run it.']),
    ...(mayRun(node) ? [] : [`Node is not at ${node} any more.`]),
    ...(existsSync(script) ? [] : [`Parley is not at ${script} any more.`]),
    ...(carried.database === undefined || existsSync(carried.database)
      ? []
      : [`There is no Parley store at ${carried.database} any more.`]),
  ]
}

function mayRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
