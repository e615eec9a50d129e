/** Streams of events, read one by one: the GET stream of a session, and `subscriptions/listen`. */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { onTestFinished } from 'vitest'

export interface Event {
  readonly id?: string
  /** The JSON of its data; undefined for an event without. */
  readonly message?: {
    method: string
    params: { uri: string; level?: string; logger?: string; data?: unknown } & Record<string, unknown>
  }
}

export interface EventStream {
  readonly status: number
  /** Whether the server has ended it, or it broke. */
  ended(): boolean
  /** All so far, those that only name a place too. */
  readonly events: Event[]
  /** The URIs of the updates so far. */
  uris(): string[]
  /** Resolves once there are so many updates. */
  until(count: number): Promise<void>
  /** Reads nothing any more. */
  stall(): void
  /** Reads again. */
  resume(): void
  end(): void
}

export async function openEvents(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: object },
): Promise<EventStream> {
  const sent: ClientRequest = request(url, { method, headers, agent: false })
  onTestFinished(() => void sent.destroy())
  sent.on('error', () => {})
  sent.end(body && JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let ended = false
  response
    .on('error', () => {})
    .on('close', () => {
      ended = true
    })
  const events: Event[] = []
  let rest = ''
  let wake = () => {}
  response.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      if (part.startsWith(':')) continue
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1]
      const [id, data] = [field('id'), field('data')]
      events.push({ ...(id !== undefined && { id }), ...(data && { message: JSON.parse(data) }) })
    }
    wake()
  })
  const uris = () =>
    events.flatMap(({ message }) => (message?.method === 'notifications/resources/updated' ? [message.params.uri] : []))
  return {
    status: response.statusCode ?? 0,
    ended: () => ended,
    events,
    uris,
    async until(count) {
      while (uris().length < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
    stall: () => void response.pause(),
    resume: () => void response.resume(),
    end: () => void sent.destroy(),
  }
}

/** The GET stream of a session. */
export const sessionEvents = (
  url: string,
  token: string,
  last?: string,
  headers: Record<string, string> = {},
): Promise<EventStream> =>
  openEvents(url, {
    method: 'GET',
    headers: {
      accept: 'text/event-stream',
      'mcp-session-id': token,
      'mcp-protocol-version': '2025-11-25',
      ...(last !== undefined && { 'last-event-id': last }),
      ...headers,
    },
  })

/** `subscriptions/listen` of 2026-07-28; resolves once it is acknowledged. */
export async function listenEvents(
  url: string,
  uris: readonly string[],
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const version = '2026-07-28'
  const stream = await openEvents(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': version,
      'mcp-method': 'subscriptions/listen',
      ...headers,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { resourceSubscriptions: uris },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientInfo': { name: 'parley-test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
  })
  while (stream.events.length === 0) await new Promise((resolve) => setImmediate(resolve))
  return stream
}

/** A request within a session. */
export async function inSession(
  url: string,
  token: string,
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; result?: Record<string, unknown>; error?: { code: number; message: string } }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': token,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const text = await response.text()
  const data =
    text
      .split('\n')
      .findLast((line) => line.startsWith('data: '))
      ?.slice(6) ?? text
  return { status: response.status, ...(data === '' ? {} : JSON.parse(data)) }
}

export const subscribe = (url: string, token: string, uri: string, headers: Record<string, string> = {}) =>
  inSession(url, token, 'resources/subscribe', { uri }, headers)
