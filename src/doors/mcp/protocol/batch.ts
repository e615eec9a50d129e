/** A batch, which protocol 2025-03-26 has and no other: several messages in, one list of answers out. */
import {
  classifyInboundRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCRequest,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { FastifyReply } from 'fastify'
import { HubError } from '../../../base/errors.ts'
import { limits } from '../../../base/limits.ts'
import { admitAll } from '../http/admission.ts'
import { isReachable, isWritten, withReplyHeaders } from '../http/exchange.ts'
import { peerOf, takeNotification } from '../http/incoming.ts'
import type { Mount, RequestContext } from '../http/mount.ts'
import { dispatch } from './dispatch.ts'
import type { Engine } from './engine.ts'
import { Exchange, type Peer } from './exchange.ts'
import { errorText, Refusal, rpcCodes, rpcError } from './refusal.ts'
import type { Session } from './sessions.ts'

interface Received<Scope> {
  readonly mount: Mount<Scope>
  readonly place: RequestContext<Scope>
  readonly session: Session | undefined
  readonly body: readonly unknown[]
  readonly reply: FastifyReply
}

export async function answerBatch<Scope>({ mount, place, session, body, reply }: Received<Scope>): Promise<void> {
  const requests = check(body)
  const asked = requests.map(({ method, params }) => ({ method, tool: params?.name }))
  const callers = await admitAll(mount.service, place, asked)
  // With nothing left to do, the request is refused as a whole: its status says so.
  const [first] = callers
  if (first instanceof HubError && callers.every((caller) => caller instanceof HubError)) throw first
  for (const message of body)
    if (isJSONRPCNotification(message)) takeNotification(session, message)
    else if (isJSONRPCResponse(message)) session?.conversation.answer(message)
  if (requests.length === 0) return void reply.code(202).send()
  reply.hijack()
  const { service, eras } = mount
  const batch = new Batch(reply, requests.length)
  const client = session?.claims.client
  const parts = requests.map((message, index) => {
    const admitted = callers[index]
    const refusal = admitted instanceof HubError ? admitted : undefined
    const caller = admitted instanceof HubError || admitted === undefined ? place.caller : admitted
    const peer = peerOf(mount, { ...place, caller }, session, client)
    return new BatchPart(message, { peer, engine: service.engine, batch, refusal })
  })
  const end = () => {
    const written = isWritten(reply.raw, reply.request.raw.socket)
    for (const part of parts) part.ended(written)
  }
  reply.raw.once('close', end)
  if (reply.raw.destroyed) end()
  for (const part of parts)
    if (part.refusal === undefined) void dispatch(service, eras.legacy, part.message, part)
    else part.finish(errorText(part.id, rpcError(part.refusal)))
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
  message:
    'The answers of this batch are too large together; messages that this one took are put back. Send the request alone.',
}

interface PartOptions<Scope> {
  readonly peer: Peer<Scope>
  readonly engine: Engine
  readonly batch: Batch
  readonly refusal: HubError | undefined
}

class BatchPart<Scope> extends Exchange<Scope> {
  readonly message: JSONRPCRequest
  /** The reason that it is not done. */
  readonly refusal: HubError | undefined
  readonly #batch: Batch
  #put = false

  constructor(message: JSONRPCRequest, { peer, engine, batch, refusal }: PartOptions<Scope>) {
    super(message.id, peer, engine)
    this.message = message
    this.refusal = refusal
    this.#batch = batch
  }

  /** One list is all the answer there is: no room for notifications. */
  notify(): boolean {
    return false
  }

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
