/** The Parley server as its client calls it: REST with a key, each failure worded with the next step. */
import { z } from 'zod'
import type { Clock } from '../../base/clock.ts'
import { type Code, codes, HubError } from '../../base/errors.ts'
import type { Ids } from '../../base/ids.ts'
import { cut, echo } from '../../base/text.ts'
import * as answers from '../words/post.ts'
import { type Fetched, request, Unreachable } from './request.ts'

interface ServerOptions {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: string | undefined
  readonly clock: Clock
  readonly ids: Ids
  /** The name under which this process claims messages: it may repeat its own claims. */
  readonly client: string
}

interface Draft {
  readonly to: string
  readonly content: string
  readonly subject?: string | undefined
  readonly session_id?: string | undefined
  readonly automatic?: boolean
  readonly client_message_id?: string
}

/** As many as one answer to a model has room for. */
const sessionsListed = 50
const patienceMs = 15_000

/** For calls whose status says everything. */
const anything = z.object({})

export type Server = ReturnType<typeof createServer>

export function createServer({ url, key, clock, ids, client }: ServerOptions) {
  async function call<Shape extends z.ZodType>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    { as, body }: { readonly as: Shape; readonly body?: object },
  ): Promise<z.output<Shape>> {
    if (key === undefined) throw noKey()
    const asked = { method, body, headers: { 'x-api-key': key }, clock, patienceMs }
    const fetched = await request(`${url}${path}`, asked).catch((error: unknown) => {
      throw error instanceof Unreachable ? unavailable(url, error) : error
    })
    if (fetched.status < 200 || fetched.status > 299) throw errorOf(url, fetched)
    const { data } = as.safeParse(fetched.json)
    if (data === undefined) throw notParley(url)
    return data
  }
  const of = (id: string) => encodeURIComponent(id)
  let own: Promise<string> | undefined

  return {
    /** The name of the agent of this key, which never changes. */
    self(): Promise<string> {
      own ??= call('GET', '/agents/me', { as: answers.selfShape }).then(
        ({ name }) => name,
        (error: unknown) => {
          own = undefined
          throw error
        },
      )
      return own
    },
    inbox: () => call('GET', `/inbox?limit=${sessionsListed}`, { as: answers.inboxShape }),
    history: (session: string, { limit, before }: { limit: number; before?: string | undefined }) =>
      call('GET', `/sessions/${of(session)}/history?limit=${limit}${before ? `&before=${of(before)}` : ''}`, {
        as: answers.historyShape,
      }),
    session: (session: string) => call('GET', `/sessions/${of(session)}`, { as: answers.counterpartShape }),
    /** The unread messages of all sessions, oldest first, page by page. None is marked as read. */
    async *unread(): AsyncGenerator<answers.UnreadMessage> {
      for (let after = '', more = true; more; ) {
        const page = await call('GET', `/messages/unread${after && `?after=${of(after)}`}`, { as: answers.unreadShape })
        yield* page.messages
        after = page.messages.at(-1)?.message_id ?? ''
        more = page.has_more && after !== ''
      }
    },
    /** Tried twice if the first answer is lost: the client_message_id makes the server store it once. */
    async send(draft: Draft) {
      const body = { client_message_id: ids.uuid(), ...draft }
      const post = () => call('POST', '/messages/send', { as: answers.sentShape, body })
      return post().catch((error: unknown) => {
        if (error instanceof HubError && error.code === 'SERVER_UNAVAILABLE') return post()
        throw error
      })
    },
    connect: (target_agent_name: string, message: string | undefined) =>
      call('POST', '/connections/request', { as: answers.requestedShape, body: { target_agent_name, message } }),
    approve: (verification_code: string) =>
      call('POST', '/connections/approve', { as: answers.approvedShape, body: { verification_code } }),
    pending: () => call('GET', '/connections/pending', { as: answers.pendingListShape }),
    accept: (connection: string) =>
      call('POST', `/connections/${of(connection)}/approve`, { as: answers.approvedShape, body: {} }),
    deny: (connection: string) =>
      call('POST', `/connections/${of(connection)}/deny`, { as: answers.deniedShape, body: {} }),
    /** Undefined if another client has the message, or it is read or gone: then this process leaves it alone. */
    async claim(message: string, via?: string) {
      try {
        return await call('POST', `/messages/${of(message)}/claim`, { as: answers.claimedShape, body: { client, via } })
      } catch (error) {
        if (error instanceof HubError && ['conflict', 'not_found'].includes(error.kind)) return undefined
        throw error
      }
    },
    markRead: (message: string) => call('POST', `/messages/${of(message)}/read`, { as: anything }),
    /** Stores which session of the agent's host continues this session. */
    keepSessionKey: (session: string, session_key: string) =>
      call('PUT', `/sessions/${of(session)}/key`, { as: anything, body: { session_key } }),
  }
}

const noKey = (): HubError =>
  new HubError('UNAUTHENTICATED', 'This mailbox client has no key.', {
    hint: 'Ask your owner to set MAILBOX_API_KEY in the configuration of this MCP server: POST /agents/register shows a key once.',
  })

const unavailable = (url: string, { message }: Unreachable): HubError =>
  new HubError('SERVER_UNAVAILABLE', `The Parley server at ${url} ${message}.`, {
    hint: 'Nothing is lost: messages wait at the server. Try again in a moment. If this continues, ask your owner whether the server runs and MAILBOX_SERVER_URL is right.',
  })

const notParley = (url: string): HubError =>
  new HubError('SERVER_UNAVAILABLE', `The server at ${url} is not a Parley server.`, {
    hint: 'Ask your owner to correct MAILBOX_SERVER_URL, for example to 127.0.0.1:8765.',
  })

const isCode = (code: string): code is Code => Object.hasOwn(codes, code)

/** For codes that this version does not know. */
const byStatus: Readonly<Record<number, Code>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  410: 'CONTACT_CODE_EXPIRED',
  413: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RATE_LIMITED',
}

/** The server words these for callers of its routes; a user of the client reads this instead. */
const messages: Partial<Record<Code, string>> = {
  UNAUTHENTICATED: 'The server does not accept the key in MAILBOX_API_KEY.',
  CONTACT_REQUIRED: 'There is no approved connection with this agent.',
}

const failed = z.object({ detail: z.unknown(), code: z.string().optional() })

function errorOf(url: string, { status, json }: Fetched): HubError {
  const { data } = failed.safeParse(json)
  const detail = data === undefined ? '' : echo(text(data.detail))
  const code = data?.code !== undefined && isCode(data.code) ? data.code : byStatus[status]
  if (code === undefined || status >= 500)
    return unavailable(url, new Unreachable(`answered with status ${status}${detail && `: ${cut(detail, 200)}`}`))
  if (data === undefined) return notParley(url)
  return new HubError(code, messages[code] ?? detail)
}

const text = (detail: unknown): string => (typeof detail === 'string' ? detail : JSON.stringify(detail))
