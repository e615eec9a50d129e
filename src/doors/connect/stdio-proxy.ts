/** The front of a door: messages of a client on stdin go to the server over HTTP, and what the server says comes back. */
import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import {
  isRepeatable,
  isRequest,
  listenedTo,
  type Message,
  modernHeaders,
  modernVersion,
  parseMessage,
  progressToken,
  type Request,
  repeatableTools,
  withClientId,
} from './messages.ts'
import { Session } from './session.ts'
import { type Answer, Lost, type Wire } from './wire.ts'

interface FrontParts {
  readonly wire: Wire
  /** As errors name it. */
  readonly server: string
  readonly clock: Clock
  readonly ids: Ids
  /** Writes a line to the client. */
  write(text: string): void
  /** How long a call waits for a server that is away. */
  readonly patienceMs?: number
}

interface Running {
  readonly stop: AbortController
  readonly token: unknown
  /** The resources that it listens to. */
  readonly uris: readonly unknown[]
}

/** Codes of JSON-RPC: those of Parley's own door where it is busy, and where a message cannot be read. */
const codes = { unavailable: -32050, parse: -32700 } as const

const [firstPauseMs, longestPauseMs] = [100, 2000]

export class Front {
  readonly #parts: FrontParts
  readonly #session: Session
  readonly #running = new Map<string | number, Running>()
  readonly #work = new Set<Promise<void>>()
  readonly #safe = new Set<string>()

  constructor(parts: FrontParts) {
    this.#parts = parts
    this.#session = new Session({
      wire: parts.wire,
      ids: parts.ids,
      pause: (ms, signal) => this.#pause(ms, signal),
      told: (message, text) => this.#pass(message, text),
    })
  }

  /** A line of the client; undefined for one that is too long. */
  receive(line: Buffer | undefined): void {
    const text = line?.toString('utf8')
    const message = text === undefined ? undefined : parseMessage(text)
    if (message === undefined) this.#refuse(null, codes.parse, 'The line is no message of JSON-RPC 2.0, or too long.')
    else if (isRequest(message)) this.#hold(this.#serve(message))
    else if (message.method === 'notifications/cancelled') this.#hold(this.#cancel(message))
    else this.#hold(this.#tell(message))
  }

  /** Gives what runs a moment to end; streams end at once, and the server is told that the session is over. */
  async close(graceMs: number): Promise<void> {
    this.#session.stopListening()
    for (const { stop } of [...this.#running.values()].filter(({ token }) => token === listening)) stop.abort()
    const late = Promise.withResolvers<void>()
    const cancel = this.#parts.clock.after(graceMs, late.resolve)
    await Promise.race([this.#idle(), late.promise])
    cancel()
    for (const { stop } of this.#running.values()) stop.abort()
    await this.#session.end()
  }

  async #idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled([...this.#work])
  }

  #hold(work: Promise<void>): void {
    // The client was told of the error.
    const held = work.catch(() => {}).finally(() => this.#work.delete(held))
    this.#work.add(held)
  }

  async #serve(asked: Request): Promise<void> {
    const { clock, ids, patienceMs = 30_000 } = this.#parts
    const request = withClientId(asked, () => ids.uuid())
    const listens = request.method === 'subscriptions/listen'
    const running = {
      stop: new AbortController(),
      token: listens ? listening : progressToken(request),
      uris: listenedTo(request),
    }
    const { signal } = running.stop
    this.#running.set(request.id, running)
    let until = clock.monotonic() + patienceMs
    let pauseMs = firstPauseMs
    try {
      while (!signal.aborted) {
        const lost = await this.#attempt(request, signal, listens)
        if (lost === undefined || signal.aborted) return
        // A subscription lasts: it is asked for again for as long as the client wants it.
        if (listens && lost.kind === 'broken') until = clock.monotonic() + patienceMs
        const again = lost.kind === 'away' || (lost.kind === 'broken' && isRepeatable(request, this.#safe))
        if (!again || clock.monotonic() + pauseMs > until)
          return this.#refuse(request.id, codes.unavailable, this.#reason(lost))
        await this.#pause(pauseMs, signal)
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    } finally {
      if (this.#running.get(request.id) === running) this.#running.delete(request.id)
    }
  }

  #reason({ kind, message }: Lost): string {
    const { server } = this.#parts
    if (kind === 'away')
      return `The Parley server at ${server} cannot be reached (${message}). Start it, or try again later.`
    if (kind === 'refused') return `The Parley server at ${server} cannot be used: ${message}.`
    return `The connection to ${server} broke (${message}). Whether the call was done is not known: look before you repeat it.`
  }

  /** Undefined once the client has its answer. */
  async #attempt(request: Request, signal: AbortSignal, listens: boolean): Promise<Lost | undefined> {
    try {
      const answer = await this.#send(request, signal)
      if (answer.status >= 502 && answer.status <= 504) {
        answer
          .messages()
          .return(undefined)
          .catch(() => {})
        // Parley itself refuses with 503 before anything is done.
        return new Lost(answer.status === 503 ? 'away' : 'broken', `status ${answer.status}`)
      }
      let refusal: string | undefined
      for await (const { text } of answer.messages()) {
        const message = parseMessage(text)
        const answers = message?.method === undefined && message?.id === request.id
        if (message === undefined || (message.method === undefined && !answers)) refusal ??= errorIn(text)
        else if (!this.#isOver(request, message, { signal, listens })) {
          this.#pass(message, text, request)
          if (answers) return undefined
        }
      }
      if (answer.status >= 400) return new Lost('refused', refusal ?? `it answers with status ${answer.status}`)
      return new Lost('broken', 'the answer ended early')
    } catch (error) {
      if (error instanceof Lost) return error
      return new Lost('refused', error instanceof Error ? error.message : String(error))
    }
  }

  /** Whether a message is left out: a subscription that the server ends while it stops goes on with the next one. */
  #isOver(request: Request, message: Message, { signal, listens }: { signal: AbortSignal; listens: boolean }): boolean {
    return signal.aborted || (listens && message.id === request.id && message.result !== undefined)
  }

  async #send(request: Request, signal: AbortSignal): Promise<Answer> {
    const version = modernVersion(request)
    if (version === undefined) return this.#session.send(request, signal)
    const headers = { ...jsonHeaders, ...modernHeaders(request, version) }
    return this.#parts.wire({ method: 'POST', headers, body: JSON.stringify(request), signal })
  }

  /** Answers to other requests, and progress and updates that nobody asked for, are not for this client (connect.server.strangers). */
  #pass(message: Message, text: string, request?: Request): void {
    if (message.method === undefined && message.id !== request?.id) return
    const wanted = () => [...this.#running.values()].some(({ token }) => token === message.params?.progressToken)
    if (message.method === 'notifications/progress' && !wanted()) return
    if (message.method === 'notifications/resources/updated' && !this.#follows(message.params?.uri)) return
    if (request?.method === 'tools/list') for (const tool of repeatableTools(message)) this.#safe.add(tool)
    this.#parts.write(text.includes('\n') ? JSON.stringify(message) : text)
  }

  #follows(uri: unknown): boolean {
    return this.#session.follows(uri) || [...this.#running.values()].some(({ uris }) => uris.includes(uri))
  }

  /** In the newer era hanging up is the cancellation; before it the server is told as well. A cancelled request has no answer. */
  async #cancel(message: Message): Promise<void> {
    const id = message.params?.requestId as string | number
    const running = this.#running.get(id)
    if (modernVersion(message) === undefined) await this.#session.tell(message).catch(() => {})
    running?.stop.abort()
  }

  async #tell(message: Message): Promise<void> {
    if (modernVersion(message) === undefined) await this.#session.tell(message)
  }

  #refuse(id: string | number | null, code: number, message: string): void {
    this.#parts.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#parts.clock.after(ms, resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    return promise.finally(cancel)
  }
}

/** The sentence of a refusal that answers no request in particular, such as that of a wrong key. */
function errorIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message.replace(/\.$/, '') : undefined
  } catch {
    return undefined
  }
}

/** Stands for the token of a request that lasts. */
const listening = Symbol('listening')

const jsonHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const
