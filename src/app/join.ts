/** `parley join`: exchanges the code of an invitation for a key, stores the key, and checks that the server takes it. */
import { systemClock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import { agentNamePattern, nameKey } from '../base/names.ts'
import type { Joined, Joining, Plan } from '../doors/cli/operating/join.ts'
import { harmlessLine } from '../doors/cli/terminal/harmless.ts'
import { type Fetched, request, Unreachable } from '../doors/mailbox-client/request.ts'
import { checkWritable, credentialsFile, findCredential, storeCredential } from './credentials.ts'

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
  return {
    plan(link) {
      const { server, agent, code } = readLink(link)
      if (findCredential(file, server, agent) !== undefined)
        throw new HubError('CONFLICT', `${file} holds a key of ${agent} at ${server} already.`, {
          hint: `Use it: \`parley connect --server ${server} --agent ${agent}\`. The invitation was not used.`,
        })
      const { protocol, hostname } = new URL(server)
      const readable = protocol === 'http:' && !/^(localhost|\[::1\]|127\..*)$/.test(hostname)
      return { server, agent, code, file, readable }
    },
    join: (plan) => join(plan),
  }
}

async function join({ server, agent, code, file }: Plan): Promise<Joined> {
  checkWritable(file)
  const answer = await ask(`${server}/join`, { method: 'POST', headers: {}, body: { agent, code } })
  const given = (answer.json ?? {}) as Record<string, unknown>
  if (answer.status !== 201) throw refused(server, answer)
  const textOf = (field: string): string => (typeof given[field] === 'string' ? given[field] : '')
  if (nameKey(textOf('agent')) !== nameKey(agent)) throw anotherAgent(server, agent)
  const [key, mailPath] = [textOf('key'), textOf('mail_path')]
  if (!/^[\x21-\x7e]{16,200}$/.test(key))
    throw new HubError('SERVER_UNAVAILABLE', `${server} answered without a key: it is no Parley, or another version.`)
  const credential = {
    ...{
      agent: agentNamePattern.test(textOf('agent')) ? textOf('agent') : agent,
      key,
      project: textOf('project'),
      door: textOf('door'),
    },
    mailPath: /^\/[\w./~-]{0,200}$/.test(mailPath) ? mailPath : '/mcp',
  }
  // Whose key it is, by the key itself: nothing is stored that would make us somebody else.
  const self = await ask(`${server}/agents/me`, { method: 'GET', headers: { authorization: `Bearer ${key}` } }).catch(
    (error: unknown) => {
      storeCredential(file, server, credential)
      throw error
    },
  )
  const { name } = (self.json ?? {}) as { name?: unknown }
  if (self.status === 200 && nameKey(String(name)) !== nameKey(agent)) throw anotherAgent(server, agent)
  storeCredential(file, server, credential)
  return { agent: credential.agent, project: credential.project, door: credential.door, connected: self.status === 200 }
}

const anotherAgent = (server: string, agent: string): HubError =>
  new HubError('CONFLICT', `${server} answered with the key of another agent than ${agent}. It was not stored.`, {
    hint: 'Do not use this server with this link; tell the sender of the link.',
  })

function refused(server: string, { status, json }: Fetched): HubError {
  const { error } = (json ?? {}) as { error?: { message?: unknown; hint?: unknown } }
  const message = typeof error?.message === 'string' ? error.message : `${server} refused with ${status}.`
  const code = status === 429 ? 'RATE_LIMITED' : status === 409 ? 'CONFLICT' : 'NOT_FOUND'
  return new HubError(code, message, typeof error?.hint === 'string' ? { hint: harmlessLine(error.hint) } : {})
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
