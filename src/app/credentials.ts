/** The keys that this user was given by servers: `~/.parley/credentials.json`, which nobody else reads. */
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { HubError } from '../base/errors.ts'
import { readKept, unreadable } from '../base/json-file.ts'
import { nameKey } from '../base/names.ts'

export interface Credential {
  readonly agent: string
  readonly key: string
  /** The slug of the agent's project. */
  readonly project: string
  readonly door: string
  /** Where the mail door of the server is. */
  readonly mailPath: string
}

/** By the URL of the server, then by the agent. */
type Servers = Readonly<Record<string, Readonly<Record<string, Omit<Credential, 'agent'>>>>>

type Environment = Readonly<Record<string, string | undefined>>

export const credentialsFile = ({ HOME, USERPROFILE }: Environment): string =>
  join(HOME || USERPROFILE || homedir(), '.parley', 'credentials.json')

/** The credentials for one server. */
export const listCredentials = (file: string, server: string): Credential[] =>
  Object.entries(read(file)[server] ?? {}).map(([agent, rest]) => ({ agent, ...rest }))

/** The credentials for all servers. */
export const listAllCredentials = (file: string): (Credential & { readonly server: string })[] =>
  Object.keys(read(file)).flatMap((server) => listCredentials(file, server).map((one) => ({ server, ...one })))

export const findCredential = (file: string, server: string, agent: string): Credential | undefined =>
  listCredentials(file, server).find((one) => nameKey(one.agent) === nameKey(agent))

/** A server at which one key is held needs no --agent. */
export function heldCredential(env: Environment, server: string, agent: string | undefined): Credential | undefined {
  const held = listCredentials(credentialsFile(env), server)
  if (agent !== undefined) return held.find((one) => nameKey(one.agent) === nameKey(agent))
  if (held.length <= 1) return held[0]
  throw new HubError('INVALID_ARGUMENT', `You hold several keys at ${server}.`, {
    hint: `Pass --agent with one of: ${held.map((one) => one.agent).join(', ')}.`,
  })
}

export function storeCredential(file: string, server: string, { agent, ...rest }: Credential): void {
  const servers = read(file)
  write(file, { ...servers, [server]: { ...servers[server], [agent]: rest } })
}

/** Throws where a key could not be stored: found out before a code is used up that works once. */
export const checkWritable = (file: string): void => write(file, read(file))

function read(file: string): Servers {
  const servers = readKept<Servers>(file, 'servers')
  if (servers !== unreadable) return servers ?? {}
  throw new HubError('INVALID_ARGUMENT', `${file} cannot be read as JSON with "servers".`, {
    hint: 'Repair the file or move it away; Parley leaves it as it is.',
  })
}

/** Written whole and then renamed: whoever reads meanwhile finds the old one or the new one. */
function write(file: string, servers: Servers): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const target = real(file)
  const draft = `${target}.${process.pid}.new`
  rmSync(draft, { force: true })
  writeFileSync(draft, `${JSON.stringify({ servers }, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(draft, 0o600)
  renameSync(draft, target)
}

/** A symlink stays one. */
function real(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
