/** The session of the older era: begun by `initialize`, with a stream of its own, begun anew where the server has forgotten it. */
import type { Ids } from '../../base/ids.ts'
import { type Message, parseMessage, type Request } from './messages.ts'
import { type Answer, Lost, type Wire } from './wire.ts'

interface SessionParts {
  readonly wire: Wire
  readonly ids: Ids
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** A message that answers no request. */
  told(message: Message, text: string): void
}

const headersOf = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const streamPauseMs = 1000

export class Session {
  readonly #parts: SessionParts
  #id: string | undefined
  #version: string | undefined
  #initialize: Request | undefined
  #renewing: Promise<void> | undefined
  readonly #followed = new Set<unknown>()
  readonly #stop = new AbortController()
  #streaming = false

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  async send(request: Request, signal: AbortSignal): Promise<Answer> {
    if (request.method === 'initialize') return this.#begin(request, signal)
    if (request.method === 'resources/subscribe') this.#followed.add(request.params?.uri)
    if (request.method === 'resources/unsubscribe') this.#followed.delete(request.params?.uri)
    const used = this.#id
    const answer = await this.#post(request, signal)
    if (answer.status !== 404 || used === undefined || this.#initialize === undefined) return answer
    await this.#renew(used, signal)
    return this.#post(request, signal)
  }

  /** A notification, or the answer to a question of the server. */
  async tell(message: Message): Promise<void> {
    const { signal } = this.#stop
    const answer = await this.#post(message, signal)
    for await (const _ of answer.messages());
    if (message.method === 'notifications/initialized') this.#listen()
  }

  /** Whether the client has subscribed to a resource. */
  follows(uri: unknown): boolean {
    return this.#followed.has(uri)
  }

  stopListening(): void {
    this.#stop.abort()
  }

  /** Never rejects: a server that is away forgets the session by itself. */
  async end(): Promise<void> {
    if (this.#id === undefined) return
    const signal = AbortSignal.timeout(1000)
    await this.#parts.wire({ method: 'DELETE', headers: this.#headers(), signal }).catch(() => {})
  }

  #headers(): Record<string, string> {
    return {
      ...headersOf,
      ...(this.#id !== undefined && { 'mcp-session-id': this.#id }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    }
  }

  #post(message: Message, signal: AbortSignal): Promise<Answer> {
    return this.#parts.wire({ method: 'POST', headers: this.#headers(), body: JSON.stringify(message), signal })
  }

  async #begin(request: Request, signal: AbortSignal): Promise<Answer> {
    this.#initialize = request
    const body = JSON.stringify(request)
    const answer = await this.#parts.wire({ method: 'POST', headers: headersOf, body, signal })
    const { 'mcp-session-id': id } = answer.headers
    this.#id = typeof id === 'string' ? id : undefined
    return { ...answer, messages: () => this.#noting(request, answer) }
  }

  async *#noting(request: Request, answer: Answer) {
    for await (const told of answer.messages()) {
      const message = parseMessage(told.text)
      const version = message?.id === request.id ? message.result?.protocolVersion : undefined
      if (typeof version === 'string') this.#version = version
      yield told
    }
  }

  /** Several calls may find the session gone at once: one begins the next. */
  #renew(used: string, signal: AbortSignal): Promise<void> {
    if (this.#id !== used) return this.#renewing ?? Promise.resolve()
    this.#renewing ??= this.#beginAgain(signal).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #beginAgain(signal: AbortSignal): Promise<void> {
    const { ids } = this.#parts
    const { params } = this.#initialize ?? {}
    const own = (method: string, params: Message['params']) =>
      ({ jsonrpc: '2.0', id: `connect-${ids.uuid()}`, method, params }) as unknown as Request
    const first = this.#initialize
    const answer = await this.#begin(own('initialize', params), signal)
    this.#initialize = first
    for await (const _ of answer.messages());
    if (answer.status >= 400) throw new Lost('refused', `it begins no session, with status ${answer.status}`)
    const begun = { jsonrpc: '2.0', method: 'notifications/initialized' } as Message
    for await (const _ of (await this.#post(begun, signal)).messages());
    for (const uri of this.#followed) {
      const followed = await this.#post(own('resources/subscribe', { uri }), signal)
      for await (const _ of followed.messages());
    }
  }

  #listen(): void {
    if (this.#streaming) return
    this.#streaming = true
    this.#keepListening().catch(() => {})
  }

  /** The stream of what the server says on its own; asked for again where it ends, from the last event on. */
  async #keepListening(): Promise<void> {
    const { wire, pause, told } = this.#parts
    const { signal } = this.#stop
    let last: string | undefined
    while (!signal.aborted) {
      const used = this.#id
      if (used === undefined) return
      try {
        const headers = { ...this.#headers(), ...(last !== undefined && { 'last-event-id': last }) }
        const answer = await wire({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' }, signal })
        for await (const { id, text } of answer.messages()) {
          last = id ?? last
          const message = answer.status === 200 && text !== '' ? parseMessage(text) : undefined
          if (message !== undefined) told(message, text)
        }
        if (answer.status === 405) return
        if (answer.status === 404) {
          last = undefined
          await this.#renew(used, signal)
        }
      } catch {
        // The server is away: it is asked again.
      }
      await pause(streamPauseMs, signal)
    }
  }
}
