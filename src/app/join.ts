/** `parley join`: exchanges the code of an invitation for a key, stores the key, and checks that the server takes it. */
import { systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { parsedJson } from '../base/json.ts'
import { agentNamePattern, nameKey } from '../base/names.ts'
import type { Joined, Joining, Plan } from '../doors/cli/operating/join.ts'
import { harmlessLine } from '../doors/cli/terminal/harmless.ts'
import { type Fetched, request, Unreachable } from '../doors/mailbox-client/request.ts'
import { checkWritable, credentialsFile, findCredential, storeCredential } from './credentials.ts'
import { serverNamed } from './server-place.ts'
import { isHere } from './token.ts'

const patienceMs = 15_000

/** `https://parley.example/join/NAME-code`, perhaps below a path. */
function readLink(link: string): { server: string; agent: string; code: string } {
  const url = URL.parse(link.trim())
  const [, path = '', agent = '', code = ''] = /^(.*)\/join\/([^/]+)-([0-9a-z]{25})\/?$/.exec(url?.pathname ?? '') ?? []
  const plain = url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === ''
  if (url === null || !plain || !agentNamePattern.test(agent))
    throw new HubError('INVALID_ARGUMENT', 'This is not an invitation link.', {
      hint: 'It looks like https://parley.example/join/NAME-code: copy the whole of it.',
    })
  return { server: `${url.origin}${path}`, agent, code }
}

export function joining(env: Readonly<Record<string, string | undefined>>): Joining {
  const file = credentialsFile(env)
  const at = (server: string, agent: string) => {
    const { protocol } = new URL(server)
    const held = findCredential(file, server, agent)
    return { server, agent, file, held: held !== undefined, readable: protocol === 'http:' && !isHere(server) }
  }
  return {
    plan(link) {
      const { server, agent, code } = readLink(link)
      return { ...at(server, agent), code }
    },
    async planKey(given, key) {
      const server = /\/join\//.test(given) ? readLink(given).server : serverNamed(given, 'The address of the server')
      const { status, name } = keyPattern.test(key) ? await holderOf(server, key) : { status: 401, name: '' }
      if (status !== 200 || !agentNamePattern.test(name))
        throw new HubError('UNAUTHENTICATED', `${server} does not take this key (${status}).`, {
          hint: 'Copy the whole key. On the machine of the server `parley keys rotate NAME` prints a new one.',
        })
      return { ...at(server, name), key }
    },
    join: (plan) => (plan.key === undefined ? join(plan, plan.code) : keep(plan, plan.key)),
  }
}

const keyPattern = /^[\x21-\x7e]{16,200}$/

/** Whose key it is, by the key itself: nothing is stored that would make us somebody else. */
async function holderOf(server: string, key: string): Promise<{ status: number; name: string }> {
  const { status, json } = await ask(`${server}/agents/me`, { method: 'GET', headers: bearer(key) })
  return { status, name: status === 200 ? String((json as { name?: unknown } | undefined)?.name) : '' }
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

async function join({ server, agent, file }: Plan, code: string | undefined): Promise<Joined> {
  checkWritable(file)
  const held = findCredential(file, server, agent)
  // A key that was revoked or rotated is replaced; a good one is kept, and so is the invitation.
  if (held !== undefined && (await holderOf(server, held.key)).status !== 401)
    throw new HubError('CONFLICT', `${file} holds a key of ${agent} at ${server} already.`, {
      hint: `Use it: \`parley connect --server ${server} --agent ${agent}\`. The invitation was not used.`,
    })
  const answer = await ask(`${server}/join`, { method: 'POST', headers: {}, body: { agent, code } })
  const given = (answer.json ?? {}) as Record<string, unknown>
  if (answer.status !== 201) throw refused(server, answer)
  const textOf = (field: string): string => (typeof given[field] === 'string' ? given[field] : '')
  if (nameKey(textOf('agent')) !== nameKey(agent)) throw anotherAgent(server, agent)
  const [key, mailPath] = [textOf('key'), textOf('mail_path')]
  if (!keyPattern.test(key))
    throw new HubError('SERVER_UNAVAILABLE', `${server} answered without a key: it is no Parley, or another version.`, {
      hint: 'Ask the sender of the link for the address of the server.',
    })
  const credential = {
    agent: held?.agent ?? (agentNamePattern.test(textOf('agent')) ? textOf('agent') : agent),
    key,
    project: textOf('project'),
    door: textOf('door'),
    mailPath: /^\/[\w./~-]{0,200}$/.test(mailPath) ? mailPath : '/mcp',
  }
  const holder = await holderOf(server, key).catch((error: unknown) => {
    storeCredential(file, server, credential)
    throw error
  })
  if (holder.status === 200 && nameKey(holder.name) !== nameKey(agent)) throw anotherAgent(server, agent)
  storeCredential(file, server, credential)
  return { ...credential, connected: holder.status === 200 }
}

/** A key that its owner was given by hand, such as the new one after `parley keys rotate`. */
async function keep({ server, agent, file }: Plan, key: string): Promise<Joined> {
  const held = findCredential(file, server, agent)
  const { mailPath = '/mcp', door = 'mail' } = held ?? {}
  const credential = { agent, ...held, key, mailPath, door, project: await projectOf(`${server}${mailPath}`, key) }
  storeCredential(file, server, credential)
  return { ...credential, connected: true }
}

/** The one project that the agent of a key sees. */
async function projectOf(mail: string, key: string): Promise<string> {
  const body = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'resource://projects' } }
  const { json } = await ask(mail, { method: 'POST', headers: bearer(key), body })
  const { result } = (json ?? {}) as { result?: { contents?: readonly { text?: string }[] } }
  const projects = parsedJson(result?.contents?.[0]?.text ?? '')
  const [{ slug } = {}] = (Array.isArray(projects) ? projects : []) as { slug?: unknown }[]
  if (typeof slug === 'string') return slug
  throw new HubError('SERVER_UNAVAILABLE', `${mail} does not tell the project of this key.`, {
    hint: 'Ask for an invitation (`parley invite`): it names the path of the mail door.',
  })
}

const anotherAgent = (server: string, agent: string): HubError =>
  new HubError('CONFLICT', `${server} answered with the key of another agent than ${agent}. It was not stored.`, {
    hint: 'Do not use this server with this link; tell the sender of the link.',
  })

function refused(server: string, { status, json }: Fetched): HubError {
  const { error } = (json ?? {}) as { error?: { message?: unknown; hint?: unknown } }
  const message = typeof error?.message === 'string' ? error.message : `${server} refused with ${status}.`
  if (status === 409)
    return new HubError('CONFLICT', message, {
      hint: `Ask for that key, and store it: parley join ${server} --key - --yes < key.txt`,
    })
  const code = status === 429 ? 'RATE_LIMITED' : 'NOT_FOUND'
  const own = 'Check the address in the link, and ask its sender for a new one (`parley invite`).'
  return new HubError(code, message, { hint: typeof error?.hint === 'string' ? harmlessLine(error.hint) : own })
}

async function ask(url: string, asked: Pick<Parameters<typeof request>[1], 'method' | 'headers' | 'body'>) {
  try {
    return await request(url, { ...asked, clock: systemClock, patienceMs })
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    throw new HubError('SERVER_UNAVAILABLE', `The server at ${new URL(url).origin} ${error.message}.`, {
      hint: 'Check the link and the network, and run the same line again.',
    })
  }
}
