/** The hooks that init writes: the programs that they run, where they call, and the files with keys that curl reads. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commons } from '../base/names.ts'
import type { CarriedOut } from '../client-settings/carry-out.ts'
import type { Places, Scope } from '../client-settings/client.ts'
import { removeMade, replaceFile } from '../client-settings/files.ts'
import type { Hooking } from '../client-settings/hook-lines.ts'
import { findProgram } from '../client-settings/installed.ts'
import { homeOf, initRecord } from './clients-set-up.ts'
import { credentialsFile, listAllCredentials } from './credentials.ts'
import type { ServerChoice } from './init-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

const launcher = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

export function hookingFor(
  { origin, agent, door, project, held, needsKey }: ServerChoice,
  { scope, places, hold = false }: { scope: Scope; places: Places; hold?: boolean | undefined },
): { hooking: Hooking; todo: readonly string[] } {
  // An agent of a key has the project of the key; other doors than mail know none.
  const own = held?.project ?? (door === 'mail' ? (scope === 'here' ? places.folder : undefined) : commons)
  const hooking: Hooking = {
    ...{ server: origin, agent, project: project ?? own, needsKey, hold, platform: places.platform },
    parley: [process.execPath, launcher],
    curl: findProgram('curl', places) !== undefined,
    keyFile: held && keyFile(places.env, origin, held.agent),
    credentials: credentialsFile(places.env),
  }
  const passing = /[\\/]_npx[\\/]/.test(launcher)
  return {
    hooking,
    todo: passing
      ? [
          'Install Parley for good (npm install --global parley-hub), and run init again: hooks name its place, and npx may clear it.',
        ]
      : [],
  }
}

const keyFolder = (env: Environment): string => join(homeOf(env), '.parley', 'curl')

/** Settings of curl with the key of an agent at a server. */
const keyFile = (env: Environment, server: string, agent: string): string =>
  join(keyFolder(env), `${agent}@${server.replace(/^https?:\/\//, '').replace(/[^\w.-]+/g, '_')}.conf`)

/** Brings the files with keys up to date: one for each key that a settings file of init names, and no other. */
export function keepKeyFiles(env: Environment): CarriedOut[] {
  const folder = keyFolder(env)
  const named = JSON.stringify(initRecord(env))
  const isNamed = (file: string) => named.includes(basename(file))
  const wanted = new Map(
    listAllCredentials(credentialsFile(env)).map(({ server, agent, key }) => [
      keyFile(env, server, agent),
      `header = "Authorization: Bearer ${key.replace(/["\\]/g, '\\$&')}"\n`,
    ]),
  )
  const stale = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  const did = (file: string, what: CarriedOut['did']): CarriedOut => ({ file, clients: [], did: what, left: [] })
  const done: CarriedOut[] = []
  for (const file of stale.filter((one) => !(wanted.has(one) && isNamed(one)))) {
    removeMade(file, [folder])
    done.push(did(file, 'removed'))
  }
  for (const [file, text] of wanted) {
    if (!isNamed(file) || textOf(file) === text) continue
    const before = textOf(file)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    replaceFile(file, text, 0o600)
    done.push(did(file, before === undefined ? 'made' : 'changed'))
  }
  return done
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
