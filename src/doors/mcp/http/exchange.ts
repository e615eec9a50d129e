/** An exchange over HTTP: answered with JSON, or with a stream of events once there is a notification to send. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestId } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { retryHeader } from '../../http/refusal.ts'
import type { Engine } from '../protocol/engine.ts'
import { type ClientInfo, Exchange, type Peer } from '../protocol/exchange.ts'
import { event, streamHeaders, writeEvent } from '../protocol/streams.ts'

interface HttpOptions<Scope> {
  readonly id: RequestId | null
  readonly peer: Peer<Scope>
  readonly engine: Engine
  readonly reply: FastifyReply
  /** Gives the token of a new session; absent where none can be opened. */
  readonly issue?: ((client: ClientInfo) => string | undefined) | undefined
}

export class HttpExchange<Scope> extends Exchange<Scope> {
  override readonly plain: boolean
  readonly #reply: FastifyReply
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #issue: HttpOptions<Scope>['issue']
  #token: string | undefined
  #streaming = false
  #forgetKey = () => {}

  constructor({ id, peer, engine, reply, issue }: HttpOptions<Scope>) {
    super(id, peer, engine)
    this.#reply = reply
    this.#response = reply.raw
    this.#socket = reply.request.raw.socket
    this.#issue = issue
    const { accept, 'mcp-protocol-version': version } = reply.request.headers
    this.plain = peer.session === undefined && version === undefined && !acceptsEvents(accept)
    reply.hijack()
    this.#response.on('close', () => {
      if (this.#streaming) engine.streams.delete(this.#response)
      this.#forgetKey()
      this.closed(isWritten(this.#response, this.#socket))
    })
    // Its session was looked up meanwhile, and nobody says `close` twice.
    if (this.#response.destroyed) void this.lose()
  }

  notify(text: string): boolean {
    if (this.over) return false
    if (!this.#streaming && acceptsEvents(this.#reply.request.headers.accept)) this.stream()
    return this.#streaming && writeEvent(this.#response, event(text))
  }

  override stream(): void {
    if (this.over || this.#streaming) return
    this.#streaming = true
    this.#response.writeHead(200, this.#headers(streamHeaders))
    this.engine.streams.add(this.#response)
    const { server, request } = this.#reply
    this.#forgetKey = server.endWithKey(request.raw, this.caller, () => void this.lose())
  }

  override get requestId(): string {
    return this.#reply.request.id
  }

  override noteCall(call: FastifyRequest['called']): void {
    this.#reply.request.called = call
  }

  override welcome(client: ClientInfo): void {
    this.#token = this.#issue?.(client)
  }

  protected override reachable(): boolean {
    return isReachable(this.#socket)
  }

  protected override write(text: string, status: number): void {
    if (this.#streaming) this.#response.end(event(text))
    else {
      this.#response.writeHead(
        status,
        this.#headers({
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...(status !== 200 && retryHeader(status)),
        }),
      )
      this.#response.end(text)
    }
  }

  /** A cancelled request gets no answer, but its response must end: the client may keep the connection. */
  protected override abandon(): void {
    if (this.#response.destroyed) return
    if (!this.#response.headersSent) this.#response.writeHead(202, this.#headers({ 'content-length': 0 }))
    this.#response.end()
  }

  #headers(own: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const all = withReplyHeaders(this.#reply, own)
    if (this.#token !== undefined) all['mcp-session-id'] = this.#token
    return all
  }
}

/** Headers that plugins put on the reply would be lost with `hijack`. */
export const withReplyHeaders = (reply: FastifyReply, own: OutgoingHttpHeaders): OutgoingHttpHeaders => ({
  ...(reply.getHeaders() as OutgoingHttpHeaders),
  ...own,
})

export const acceptsEvents = (accept: string | undefined): boolean => accept?.includes('text/event-stream') === true

/** A socket whose peer has hung up is ended by node:http in the same turn. */
export const isReachable = (socket: Socket): boolean => !socket.destroyed && !socket.writableEnded

/** Asked on `close`, which follows a good answer too. Finished means handed to the kernel, unless the socket broke on it. */
export const isWritten = (response: ServerResponse, socket: Socket): boolean =>
  response.writableFinished && socket.errored === null
