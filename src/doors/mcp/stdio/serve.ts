/** Serves one door on stdin and stdout, a message a line. */
import type { Readable, Writable } from 'node:stream'
import { type JSONRPCRequest, ProtocolErrorCode, type RequestId } from '@modelcontextprotocol/server'
import { HubError } from '../../../base/errors.ts'
import { readJson } from '../../../base/json.ts'
import { limits } from '../../../base/limits.ts'
import { type Caller, local } from '../../../core/access/callers.ts'
import { clientOf, takeNotification } from '../http/incoming.ts'
import { Conversation } from '../protocol/conversation.ts'
import { dispatch } from '../protocol/dispatch.ts'
import type { Engine } from '../protocol/engine.ts'
import { createEras } from '../protocol/eras.ts'
import { type ClientInfo, Exchange, type Peer } from '../protocol/exchange.ts'
import { readInbound } from '../protocol/inbound.ts'
import { isRecord } from '../protocol/json.ts'
import { errorText, Refusal, rpcCodes, rpcError, unreadable } from '../protocol/refusal.ts'
import { createService } from '../protocol/service.ts'
import { listInMemory, SessionUpdates, updatesFor } from '../protocol/updates.ts'
import type { Door } from '../table.ts'
import { readLines } from './lines.ts'

interface StdioOptions {
  readonly engine: Engine
  /** A local caller, unless the process was given the key of an agent. */
  readonly caller?: Caller
  readonly stdin?: Readable
  readonly stdout?: Writable
}

/** Resolves when stdin has ended and everything that ran has ended with it. */
export async function serveStdio<Scope>(
  door: Door<Scope>,
  scope: Scope,
  { engine, caller = local, stdin = process.stdin, stdout = process.stdout }: StdioOptions,
): Promise<void> {
  const service = createService(door, engine)
  engine.tasks?.serve(service)
  const eras = createEras(service)
  const write = (text: string, done?: (error?: Error | null) => void) => stdout.write(`${text}\n`, done)
  const conversation = new Conversation()
  conversation.tell = (text) => void write(text)
  const updates =
    door.updates &&
    new SessionUpdates({
      updates: updatesFor(door.updates, { caller, scope }),
      followed: listInMemory(),
      failed: (error) => engine.log.warn({ err: error }, 'the client could not be told of changes'),
    })
  // There is one wire, and it is open: no place needs to be named.
  updates?.open((text) => write(text) || true).catch(() => {})
  /** Before 2026-07-28 a client says who it is once, on `initialize`. */
  let introduced: ClientInfo | undefined

  const serve = (message: unknown) => {
    if (Array.isArray(message)) throw noBatch()
    const inbound = readInbound(message, undefined)
    if (inbound.kind === 'notification') takeNotification({ conversation }, inbound.message)
    if (inbound.kind === 'response') conversation.answer(inbound.message)
    if (inbound.kind !== 'request') return
    const { era } = inbound
    const client = era === 'modern' ? clientOf(inbound.message) : introduced
    const exchange = new LineExchange(inbound.message, { caller, scope, client, conversation, updates }, engine, {
      write,
      welcome: (client) => {
        introduced = client
      },
    })
    void dispatch(service, eras[era], inbound.message, exchange)
  }

  /** Whatever a line holds is answered: an error of one line is not the end of the process (all.stdio.survives). */
  const read = (line: Buffer | undefined) => {
    let message: unknown
    try {
      message = parse(line)
      serve(message)
    } catch (error) {
      const id = isRecord(message) && isRequestId(message.id) ? message.id : null
      write(errorText(id, refusalOf(error)))
    }
  }
  const refusalOf = (error: unknown): Parameters<typeof errorText>[1] => {
    const refusal = error instanceof Refusal ? error : unreadable(error)
    if (refusal === undefined) engine.log.error({ err: error }, 'a line on stdin failed')
    else engine.log.warn({ code: refusal.code }, 'a line on stdin was refused')
    return refusal ?? rpcError(service.word(error, scope))
  }
  // Nobody reads any more: nothing that could still be asked would be heard.
  stdout.on('error', () => stdin.destroy())
  await readLines(stdin, read)
  // The end of input need not be the end of the reader (`echo … | parley bus`): running calls are answered, waits end empty.
  await engine.close()
  updates?.close()
  conversation.close()
}

function parse(line: Buffer | undefined): unknown {
  if (line === undefined)
    throw new Refusal(413, {
      code: rpcCodes.transport,
      message: `A line must not exceed ${limits.requestBytes} bytes.`,
    })
  try {
    return readJson(line)
  } catch (error) {
    if (error instanceof HubError) throw error
    throw new Refusal(400, { code: ProtocolErrorCode.ParseError, message: 'Parse error: the line is not valid JSON' })
  }
}

/** One protocol revision has batches, and no client is known to send them on stdin. */
const noBatch = (): Refusal =>
  new Refusal(400, {
    code: ProtocolErrorCode.InvalidRequest,
    message: 'Invalid Request: batches are not taken on stdin; send each message on a line of its own',
  })

const isRequestId = (id: unknown): id is RequestId => typeof id === 'string' || typeof id === 'number'

interface Line {
  write(text: string, done?: (error?: Error | null) => void): void
  welcome(client: ClientInfo): void
}

class LineExchange<Scope> extends Exchange<Scope> {
  readonly #line: Line

  constructor({ id }: JSONRPCRequest, peer: Peer<Scope>, engine: Engine, line: Line) {
    super(id, peer, engine)
    this.#line = line
  }

  notify(text: string): boolean {
    if (!this.over) this.#line.write(text)
    return !this.over
  }

  override welcome(client: ClientInfo): void {
    this.#line.welcome(client)
  }

  protected override write(text: string): void {
    this.#line.write(text, (error) => this.closed(!error))
  }

  /** A cancelled request gets no line at all. */
  protected override abandon(): void {}
}
