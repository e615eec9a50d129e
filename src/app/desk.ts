/** Where people's commands read and write: the store on this machine, or a server with the token or key that is meant for it. */
import { pause, systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { parsedJson } from '../base/json.ts'
import type { Hub } from '../core/hub/hub.ts'
import type { Where } from '../doors/cli/people/person.ts'
import { createWire, Lost } from '../doors/connect/wire.ts'
import type { Remote } from '../doors/people/remote-desk.ts'
import type { Desk } from '../doors/words/desk.ts'
import type { Config } from '../settings/all.ts'
import { ask, refusal } from './asking.ts'
import type { Surroundings } from './command-parts.ts'
import { type Credential, credentialsFile, heldCredential, listCredentials } from './credentials.ts'
import { serverNamed } from './server-place.ts'
import { isHere, tokenFor } from './token.ts'

/** A search of a large store takes a second; a server that takes longer than this is as good as away. */
const patienceMs = 30_000

export async function openDesk(
  config: Config,
  { server, agent }: Where,
  { env, stderr, open }: Pick<Surroundings, 'env' | 'stderr'> & { open(): Promise<Hub> },
): Promise<Desk> {
  const url = server === undefined ? config.PARLEY_SERVER : serverNamed(server)
  if (url !== undefined) {
    const { remoteDesk } = await import('../doors/people/remote-desk.ts')
    const { secret, agent: holder } = credentialFor(url, agent, { config, env })
    if (holder !== undefined && agent === undefined)
      stderr.write(`As the agent ${holder}, with the key that \`parley join\` stored for ${url}.\n`)
    return remoteDesk(await openRemote(url, secret))
  }
  if (agent !== undefined)
    throw new HubError('INVALID_ARGUMENT', '--agent is about a key at a server.', {
      hint: 'Name the server with --server. Beside the store PARLEY_API_KEY makes the commands an agent’s.',
    })
  return storeDeskOf(await open(), config)
}

/** With a key set, the process is that agent's: to write as people do would be to act as somebody else. */
async function storeDeskOf(hub: Hub, config: Config): Promise<Desk> {
  const [{ ownCaller }, { storeDesk }, { person }, { agentOf }] = await Promise.all([
    import('./own-caller.ts'),
    import('../doors/people/store-desk.ts'),
    import('../core/access/callers.ts'),
    import('../core/access/rules.ts'),
  ])
  try {
    const own = await ownCaller(hub, config)
    return storeDesk(hub, agentOf(own) === undefined ? person : own)
  } catch (error) {
    await hub.close()
    throw error
  }
}

function credentialFor(
  url: string,
  agent: string | undefined,
  { config, env }: { config: Config; env: Surroundings['env'] },
): { readonly secret: string | undefined; readonly agent?: string } {
  const { PARLEY_API_KEY } = config
  if (agent !== undefined) return stored(needHeld(url, agent, env))
  const secret = PARLEY_API_KEY ?? tokenFor(url, config)
  if (secret !== undefined) return { secret }
  const only = heldCredential(env, url, undefined)
  if (only !== undefined) return stored(only)
  if (isHere(url)) return { secret: undefined }
  throw new HubError('UNAUTHENTICATED', `There is no token and no key for ${url}.`, {
    hint: `As its operator, set PARLEY_SERVER=${url} and keep its token in this machine's token file (\`parley token show\` there prints it); as an agent, \`parley join\` an invitation.`,
  })
}

const stored = ({ agent, key }: Credential) => ({ secret: key, agent })

function needHeld(url: string, agent: string, env: Surroundings['env']): Credential {
  const found = heldCredential(env, url, agent)
  if (found !== undefined) return found
  const held = listCredentials(credentialsFile(env), url)
  const names = held.map((one) => one.agent).join(', ')
  throw new HubError('INVALID_ARGUMENT', `You hold no key of ${agent} at ${url}.`, {
    hint: held.length === 0 ? 'Ask for an invitation (`parley invite`), and `parley join` it.' : `You hold: ${names}.`,
  })
}

export async function openRemote(url: string, secret: string | undefined): Promise<Remote> {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  const away = (says: string): HubError =>
    new HubError('SERVER_UNAVAILABLE', `The server at ${url} ${says}.`, {
      hint: 'Check --server (PARLEY_SERVER), or leave it out to use the store on this machine.',
    })
  return {
    now: () => systemClock.now(),
    pause,
    async ask(path, body) {
      const { status, text } = await ask(`${url}${path}`, { headers, body, patienceMs }).catch((error: unknown) => {
        throw error instanceof Lost ? away(saying(error)) : error
      })
      if (status === 200) return parsedJson(text)
      throw refusal(url, status, parsedJson(text))
    },
    async *events(path, last, signal) {
      const sent = { ...headers, accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
      try {
        const answer = await createWire(new URL(`${url}${path}`), {})({ method: 'GET', headers: sent, signal })
        for await (const { event = '', id, text } of answer.messages()) {
          if (answer.status !== 200) throw refusal(url, answer.status, parsedJson(text))
          yield { event, id, data: parsedJson(text) }
        }
      } catch (error) {
        throw error instanceof Lost ? away(saying(error)) : error
      }
    },
  }
}

const saying = ({ message }: Lost): string =>
  message === 'ABORT_ERR' ? `gave no answer within ${patienceMs / 1000} s` : `cannot be reached (${message})`
