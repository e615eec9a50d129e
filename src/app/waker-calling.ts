/** Where `parley wait`, `hook` and `attach` call, as whom, and with which key or token. */
import { HubError } from '../base/errors.ts'
import { heldCredential } from './credentials.ts'
import { type ServerSettings, serverAt, serverSettings } from './server-place.ts'
import { tokenFor, withToken } from './token.ts'
import type { Around, Asked } from './waker.ts'

export interface WakerCalling {
  readonly server: string
  readonly headers: Readonly<Record<string, string>>
  /** For the query of a request. */
  readonly named: { readonly agent?: string; readonly project?: string }
}

interface Known {
  /** Whether the server may know the agent by the session. */
  readonly bySession: boolean
  /** False where the environment is that of another window. */
  readonly ownEnv?: boolean
}

export function wakerCalling(
  { options, checkout }: Asked,
  env: Around['env'],
  { bySession, ownEnv = true }: Known = { bySession: false },
): WakerCalling {
  const settings = serverSettings(env, checkout)
  const server = serverAt(settings, text(options.server))
  const name = text(options.agent) ?? ((ownEnv && env.AGENT_NAME) || undefined)
  const credential = heldCredential(env, server, name)
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

/** A file of another user: the server says whether it needs the token. */
function operatorToken(server: string, settings: ServerSettings): string | undefined {
  try {
    return tokenFor(server, withToken(settings))
  } catch {
    return undefined
  }
}
