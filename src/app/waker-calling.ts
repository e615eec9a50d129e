/** Where `parley wait`, `hook` and `attach` call, as whom, and with which key or token. */
import { HubError } from '../base/errors.ts'
import { envFile, settingsFiles } from '../settings/files.ts'
import { folder, serverUrl } from '../settings/kinds.ts'
import { credentialOf, credentialsFile, listCredentials } from './credentials.ts'
import { readToken, tokenFor } from './token.ts'
import type { Around, Asked } from './waker.ts'

export interface WakerCalling {
  readonly server: string
  readonly headers: Readonly<Record<string, string>>
  /** For the query of a request. */
  readonly named: { readonly agent?: string; readonly project?: string }
}

type Named = Readonly<Record<string, string | undefined>>

interface Known {
  /** Whether the server may know the agent by the session. */
  readonly bySession: boolean
  /** False where the environment is that of another window. */
  readonly ownEnv?: boolean
}

export function callingOf(
  { options, checkout }: Asked,
  env: Around['env'],
  { bySession, ownEnv = true }: Known = { bySession: false },
): WakerCalling {
  const settings = readFew(env, checkout)
  const server = urlOf(text(options.server) ?? settings.PARLEY_SERVER ?? '127.0.0.1:8765')
  const name = text(options.agent) ?? ((ownEnv && env.AGENT_NAME) || undefined)
  const credential = credentialOf(listCredentials(credentialsFile(env), server), { server, agent: name })
  const agent = name ?? credential?.agent
  if (agent === undefined && !bySession)
    throw new HubError('INVALID_ARGUMENT', 'The agent is not named.', {
      hint: 'Pass --agent NAME, or set AGENT_NAME.',
    })
  const project = text(options.project) ?? credential?.project
  const secret = credential?.key ?? operatorToken(server, settings)
  return {
    server,
    headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
    named: { ...(agent !== undefined && { agent }), ...(project !== undefined && { project }) },
  }
}

/** The windows of Codex share a process with the environment of the first one. */
export const hasOwnEnv = (client: string | undefined): boolean => client !== 'codex'

const text = (given: string | boolean | undefined): string | undefined =>
  typeof given === 'string' && given !== '' ? given : undefined

/** Some of the settings, by the order that holds for all: a fault in another one is no reason to stop waking. */
function readFew(env: Named, checkout: string | undefined): Named {
  const places = [env, ...settingsFiles(env, checkout).map((path) => envFile(path, false, []))]
  const names = ['PARLEY_SERVER', 'HTTP_PUBLIC_URL', 'HTTP_BEARER_TOKEN', 'STORAGE_ROOT']
  return Object.fromEntries(names.map((name) => [name, places.map((values) => values[name]).find(Boolean)]))
}

function operatorToken(server: string, settings: Named): string | undefined {
  const kept = () => settings.HTTP_BEARER_TOKEN ?? readToken(folder(settings.STORAGE_ROOT ?? '~/.parley'))
  const url = (name: string) => orNothing(() => urlOf(settings[name] ?? ''))
  return tokenFor(server, {
    HTTP_BEARER_TOKEN: orNothing(kept),
    PARLEY_SERVER: url('PARLEY_SERVER'),
    HTTP_PUBLIC_URL: url('HTTP_PUBLIC_URL'),
  })
}

/** A file of another user, or a fault in a setting: the server says whether it needs the token. */
function orNothing(find: () => string | undefined): string | undefined {
  try {
    return find()
  } catch {
    return undefined
  }
}

function urlOf(given: string): string {
  try {
    return serverUrl(given)
  } catch (error) {
    throw new HubError('INVALID_ARGUMENT', `The address of the server ${(error as Error).message}.`, {
      hint: 'Pass --server, or set PARLEY_SERVER.',
    })
  }
}
