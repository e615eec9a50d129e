/** A batch, which protocol 2025-03-26 has and no other: several messages in, one list of answers out. */
import {
  classifyInboundRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCRequest,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { FastifyReply } from 'fastify'
import { limits } from '../../../base/limits.ts'
import { isReachable, isWritten, withReplyHeaders } from '../http/exchange.ts'
import { peerOf, takeNotification } from '../http/incoming.ts'
import type { Mount, Place } from '../http/mount.ts'
import { dispatch } from './dispatch.ts'
import type { Engine } from './engine.ts'
import { Exchange, type Peer } from './exchange.ts'
import { errorText, Refusal, rpcCodes } from './refusal.ts'
import type { Session } from './sessions.ts'

interface Received<Scope> {
  readonly mount: Mount<Scope>
  readonly place: Place<Scope>
  readonly session: Session | undefined
  readonly body: readonly unknown[]
  readonly reply: FastifyReply
}

export function answerBatch<Scope>({ mount, place, session, body, reply }: Received<Scope>): void {
  const requests = check(body)
  for (const message of body) if (isJSONRPCNotification(message)) takeNotification(session, message)
  if (requests.length === 0) return void reply.code(202).send()
  reply.hijack()
  const { service, eras } = mount
  const batch = new Batch(reply, requests.length)
  const peer = peerOf(mount, place, session, session?.claims.client)
  const parts = requests.map((message) => new BatchPart(message, peer, service.engine, batch))
  const end = () => {
    const written = isWritten(reply.raw, reply.request.raw.socket)
    for (const part of parts) part.ended(written)
  }
  reply.raw.once('close', end)
  if (reply.raw.destroyed) end()
  for (const part of parts) void dispatch(service, eras.legacy, part.message, part)
}

function check(body: readonly unknown[]): JSONRPCRequest[] {
  const outcome = classifyInboundRequest({ httpMethod: 'POST', body })
  if (outcome.kind === 'reject') throw new Refusal(outcome.httpStatus, outcome)
  const requests = body.filter((message) => isJSONRPCRequest(message))
  const refuse = (message: string) =>
    new Refusal(400, { code: ProtocolErrorCode.InvalidRequest, message: `Invalid Request: ${message}` })
  if (requests.some(({ method }) => method === 'initialize')) throw refuse('initialize must not be part of a batch')
  return requests
}

/** Gathers the answers; the last one sends them all. */
class Batch {
  readonly #reply: FastifyReply
  readonly #answers: string[] = []
  #open: number
  #length = 0

  constructor(reply: FastifyReply, size: number) {
    this.#reply = reply
    this.#open = size
  }

  get reachable(): boolean {
    return isReachable(this.#reply.request.raw.socket)
  }

  /** Whether an answer of that length still fits: written in one piece, too many of them would hold up everybody. */
  fits(length: number): boolean {
    return this.#length === 0 || this.#length + length <= limits.batchAnswerLength
  }

  /** `undefined`: this part was cancelled and has no answer. */
  put(answer: string | undefined): void {
    if (answer !== undefined) this.#answers.push(answer)
    this.#length += answer?.length ?? 0
    this.#open--
    if (this.#open > 0) return
    const response = this.#reply.raw
    if (response.destroyed) return
    const text = this.#answers.length === 0 ? '' : `[${this.#answers.join(',')}]`
    const length = Buffer.byteLength(text)
    response.writeHead(
      text === '' ? 202 : 200,
      withReplyHeaders(this.#reply, { 'content-type': 'application/json', 'content-length': length }),
    )
    response.end(text)
  }
}

const tooLarge = {
  code: rpcCodes.transport,
  message: 'The answers of this batch are too large together; what this one took is put back. Send the request alone.',
}

class BatchPart<Scope> extends Exchange<Scope> {
  readonly message: JSONRPCRequest
  readonly #batch: Batch
  #put = false

  constructor(message: JSONRPCRequest, peer: Peer<Scope>, engine: Engine, batch: Batch) {
    super(message.id, peer, engine)
    this.message = message
    this.#batch = batch
  }

  /** One list is all the answer there is: no room for notifications. */
  notify(): void {}

  /** The response of the batch is closed. */
  ended(written: boolean): void {
    this.closed(written)
  }

  protected override reachable(): boolean {
    return this.#batch.reachable
  }

  protected override write(text: string): void {
    const fits = this.#batch.fits(text.length)
    this.#once(fits ? text : errorText(this.id, tooLarge))
    if (!fits) void this.lose()
  }

  protected override abandon(): void {
    this.#once(undefined)
  }

  #once(answer: string | undefined): void {
    if (this.#put) return
    this.#put = true
    this.#batch.put(answer)
  }
}
