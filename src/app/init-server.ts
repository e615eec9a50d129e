/** The server that init writes down: its URL, or the program that holds the key where one is stored. */
import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Places } from '../client-settings/client.ts'
import { findProgram } from '../client-settings/installed.ts'
import type { Reached } from '../client-settings/setup.ts'
import type { InitOptions } from '../doors/cli/operating/init.ts'
import { type ConnectDoor, targetOf } from '../doors/connect/target.ts'
import type { Config } from '../settings/all.ts'
import { ask } from './asking.ts'
import { doorOf } from './connect.ts'
import { type Credential, heldCredential } from './credentials.ts'
import { serverAt, serverNamed } from './server-place.ts'
import { isHere } from './token.ts'

interface Around {
  readonly places: Places
  readonly checkout?: string | undefined
  readonly config: () => Config
}

export interface ServerChoice {
  readonly server: Reached
  readonly url: string
  readonly door: ConnectDoor
  readonly agent: string | undefined
  readonly project: string | undefined
  /** For hooks, which call the server themselves. */
  readonly origin: string
  readonly held: Credential | undefined
  readonly needsKey: boolean
  readonly todo: readonly string[]
}

export async function serverFor(options: InitOptions, { places, checkout, config }: Around): Promise<ServerChoice> {
  const named = options.server ?? config().PARLEY_SERVER
  const local = named === undefined ? config() : undefined
  const url = local === undefined ? serverNamed(named ?? '') : serverAt(local)
  const credential = heldCredential(places.env, url, options.agent)
  const door = doorOf(options.door, credential?.door)
  const project = options.project === undefined ? undefined : projectOf(options.project)
  if (credential !== undefined) {
    const [command, ...args] = [
      ...parleyCommand(places, checkout),
      ...['connect', '--server', url, '--agent', credential.agent],
      ...(options.door === undefined ? [] : ['--door', door]),
      ...(project ? ['--project', project] : []),
    ]
    return {
      server: { by: 'stdio', command: command ?? '', args },
      ...{ url, door, agent: credential.agent, project, todo: [] },
      ...{ origin: url, held: credential, needsKey: true },
    }
  }
  const mailPath = local?.HTTP_PATH ?? '/mcp'
  const { agent } = options
  const target = targetOf({ server: url, door, mailPath, agent, project: undefined, key: undefined })
  const server: Reached = { by: 'http', url: target.url.href, namesAgent: door !== 'mail' && agent !== undefined }
  const needsKey = takesKeysAlone(url, local)
  return {
    ...{ server, url: target.url.href, door, agent, project, todo: await steps(url, { local, needsKey }) },
    ...{ origin: url, held: undefined, needsKey },
  }
}

/** A program of ours that the clients can start, whatever their working folder. */
function parleyCommand(places: Places, checkout: string | undefined): string[] {
  if (findProgram('parley', { ...places, env: withoutNpx(places.env) }) !== undefined) return ['parley']
  if (checkout !== undefined) return [process.execPath, join(checkout, 'bin', 'parley.js')]
  return places.platform === 'win32' ? ['cmd', '/c', 'npx', '-y', 'parley-hub'] : ['npx', '-y', 'parley-hub']
}

/** `npx` puts a `parley` of its cache on the PATH of the one command that it runs: the client would not find it later. */
function withoutNpx(env: Places['env']): Places['env'] {
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter)
  return {
    ...env,
    PATH: folders.filter((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder)).join(delimiter),
  }
}

/** Without a key only callers on this machine are let in, by its own address. */
const takesKeysAlone = (url: string, local: Config | undefined): boolean =>
  !isHere(url) || local?.HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED === false

async function steps(
  url: string,
  { local, needsKey }: { local: Config | undefined; needsKey: boolean },
): Promise<string[]> {
  return [
    ...(local !== undefined && !(await answers(url)) ? ['Start the server: parley serve --detach'] : []),
    ...(needsKey
      ? [
          `No key for ${url} is stored here, and it takes calls with a key alone: join by an invitation (parley join LINK), then run init again.`,
        ]
      : []),
  ]
}

/** Long enough for a server of this machine, and short for a person. */
const patienceMs = 500

/** A server of another store, or one that this user did not start, is one all the same. */
const answers = (url: string): Promise<boolean> =>
  ask(`${url}/health/liveness`, { headers: {}, patienceMs, anyCertificate: true }).then(
    ({ status }) => status === 200,
    () => false,
  )

/** A folder, or the slug of a project. */
const projectOf = (given: string): string =>
  /[\\/]|^\.{1,2}$/.test(given) || existsSync(given) ? resolve(given) : given
