/** The Parley server as its client calls it: REST with a key, each failure worded so that the next step is clear. */
import type { z } from 'zod'
import type { Clock } from '../../base/clock.ts'
import { type Code, codes, HubError } from '../../base/errors.ts'
import type { Ids } from '../../base/ids.ts'
import { cut, echo } from '../../base/text.ts'
import * as answers from './answers.ts'
import { type Fetched, request, Unreachable } from './request.ts'

export interface ServerOptions {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: string | undefined
  readonly clock: Clock
  readonly ids: Ids
  /** The name under which this process claims messages: it may claim again what it has claimed. */
  readonly client: string
}

export interface Draft {
  readonly to: string
  readonly content: string
  readonly subject?: string | undefined
  readonly session_id?: string | undefined
  readonly automatic?: boolean
  /** With the same one a message is stored once, however often it is sent. */
  readonly client_message_id?: string
}

interface Wish<Answer extends z.ZodType> {
  readonly as: Answer
  readonly body?: object
}

/** As many as an answer may have room for. */
const sessionsListed = 50

/** How long a request may take before the server counts as away. */
const patienceMs = 15_000

export type Server = ReturnType<typeof createServer>

export function createServer({ url, key, clock, ids, client }: ServerOptions) {
  async function call<Answer extends z.ZodType>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    { as, body }: Wish<Answer>,
  ): Promise<z.output<Answer>> {
    if (key === undefined) throw noKey()
    const asked = { method, body, headers: { 'x-api-key': key }, clock, patienceMs }
    const fetched = await request(`${url}${path}`, asked).catch((error: unknown) => {
      throw error instanceof Unreachable ? away(url, error) : error
    })
    if (fetched.status < 200 || fetched.status > 299) throw faultOf(url, fetched)
    const { data } = as.safeParse(fetched.json)
    if (data === undefined) throw stranger(url)
    return data
  }
  const of = (id: string) => encodeURIComponent(id)
  let own: Promise<string> | undefined

  return {
    /** The name of the agent of this key, which never changes. */
    self(): Promise<string> {
      own ??= call('GET', '/agents/me', { as: answers.self }).then(
        ({ name }) => name,
        (error: unknown) => {
          own = undefined
          throw error
        },
      )
      return own
    },
    inbox: () => call('GET', `/inbox?limit=${sessionsListed}`, { as: answers.inbox }),
    history: (session: string, { limit, before }: { limit: number; before?: string | undefined }) =>
      call('GET', `/sessions/${of(session)}/history?limit=${limit}${before ? `&before=${of(before)}` : ''}`, {
        as: answers.history,
      }),
    session: (session: string) => call('GET', `/sessions/${of(session)}`, { as: answers.session }),
    /** The unread messages of all sessions, the oldest first, page by page. Looking marks none of them as read. */
    async *unread(): AsyncGenerator<answers.UnreadMessage> {
      for (let after = '', more = true; more; ) {
        const page = await call('GET', `/messages/unread${after && `?after=${of(after)}`}`, { as: answers.unread })
        yield* page.messages
        after = page.messages.at(-1)?.message_id ?? ''
        more = page.has_more && after !== ''
      }
    },
    /** Tried twice where the first answer is lost: by its id the message is stored once. */
    async send(draft: Draft) {
      const body = { client_message_id: ids.uuid(), ...draft }
      const post = () => call('POST', '/messages/send', { as: answers.sent, body })
      return post().catch((error: unknown) => {
        if (error instanceof HubError && error.code === 'SERVER_UNAVAILABLE') return post()
        throw error
      })
    },
    connect: (target_agent_name: string, message: string | undefined) =>
      call('POST', '/connections/request', { as: answers.requested, body: { target_agent_name, message } }),
    approve: (verification_code: string) =>
      call('POST', '/connections/approve', { as: answers.approved, body: { verification_code } }),
    pending: () => call('GET', '/connections/pending', { as: answers.pendingConnections }),
    /** Answers a request by its id. */
    accept: (connection: string) =>
      call('POST', `/connections/${of(connection)}/approve`, { as: answers.approved, body: {} }),
    deny: (connection: string) => call('POST', `/connections/${of(connection)}/deny`, { as: answers.denied, body: {} }),
    /** Undefined if another client has the message, or it is read: then it is not this process's to handle. */
    async claim(message: string): Promise<answers.Claim | undefined> {
      try {
        return await call('POST', `/messages/${of(message)}/claim`, { as: answers.claimed, body: { client } })
      } catch (error) {
        // The message may be gone too: then there is nothing to handle either.
        if (error instanceof HubError && ['conflict', 'not_found'].includes(error.kind)) return undefined
        throw error
      }
    },
    markRead: (message: string) => call('POST', `/messages/${of(message)}/read`, { as: answers.anything }),
    /** Keeps which session of the agent's host a session is brought to. */
    keepSessionKey: (session: string, session_key: string) =>
      call('PUT', `/sessions/${of(session)}/key`, { as: answers.anything, body: { session_key } }),
  }
}

const noKey = (): HubError =>
  new HubError('UNAUTHENTICATED', 'This mailbox client has no key.', {
    hint: 'Ask your owner to set MAILBOX_API_KEY in the configuration of this MCP server: POST /agents/register shows a key once.',
  })

const away = (url: string, { message }: Unreachable): HubError =>
  new HubError('SERVER_UNAVAILABLE', `The Parley server at ${url} ${message}.`, {
    hint: 'Nothing is lost: messages wait at the server. Try again in a moment; if it goes on, ask your owner whether the server runs and MAILBOX_SERVER_URL is right.',
  })

const stranger = (url: string): HubError =>
  new HubError('SERVER_UNAVAILABLE', `What answers at ${url} is no Parley server.`, {
    hint: 'Ask your owner to correct MAILBOX_SERVER_URL, for example to 127.0.0.1:8765.',
  })

const isCode = (code: string): code is Code => Object.hasOwn(codes, code)

/** By status, for codes that this version does not know. */
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

/** In place of what the server says to those who call its routes. */
const worded: Partial<Record<Code, string>> = {
  UNAUTHENTICATED: 'The server does not accept the key in MAILBOX_API_KEY.',
  CONTACT_REQUIRED: 'There is no approved connection with this agent.',
}

function faultOf(url: string, { status, json }: Fetched): HubError {
  const { data } = answers.fault.safeParse(json)
  const detail = data === undefined ? '' : echo(text(data.detail))
  const code = data?.code !== undefined && isCode(data.code) ? data.code : byStatus[status]
  if (code === undefined || status >= 500)
    return away(url, new Unreachable(`answered with status ${status}${detail && `: ${cut(detail, 200)}`}`))
  if (data === undefined) return stranger(url)
  return new HubError(code, worded[code] ?? detail)
}

const text = (detail: unknown): string => (typeof detail === 'string' ? detail : JSON.stringify(detail))
