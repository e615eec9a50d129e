/** HTTP requests to a door, answered by JSON or by a stream of events; one connection is kept for the next request. */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { limits } from '../../base/limits.ts'
import { readEvents } from '../http/event-lines.ts'

interface Sent {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

interface Told {
  /** Of an event of a stream, as its name. */
  readonly id?: string
  readonly event?: string
  readonly text: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Each message as it comes; throws a Lost where the connection breaks. */
  messages(): AsyncGenerator<Told>
}

/** There was no answer, or not the whole of it. `away`: nothing reached the server. */
export class Lost extends Error {
  override readonly name = 'Lost'
  readonly kind: 'away' | 'broken' | 'refused'

  constructor(kind: Lost['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

const away = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN ETIMEDOUT EADDRNOTAVAIL'.split(' '),
)
const broken = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'HPE_INVALID_EOF_STATE'])

export type Wire = (sent: Sent) => Promise<Answer>

/**
 * An import by name would load the whole of fetch and WebSocket with it: 30 ms of a start. `process.getBuiltinModule` is not there
 * before Node 20.16.
 */
const builtin = createRequire(import.meta.url)

/** `unix://` has the path of a socket in the place of a host. */
const socketOf = ({ protocol, hostname }: URL) =>
  protocol === 'unix:' ? { socketPath: decodeURIComponent(hostname), host: 'localhost' } : {}

const moduleFor = ({ protocol }: URL) =>
  (protocol === 'https:' ? builtin('node:https') : builtin('node:http')) as typeof import('node:http')

interface WireOptions {
  /** For a question without a secret, to a server of this very machine: its certificate names another. */
  readonly anyCertificate?: boolean
}

export function createWire(
  url: URL,
  always: Readonly<Record<string, string>>,
  { anyCertificate = false }: WireOptions = {},
): Wire {
  const client = moduleFor(url)
  const agent = new client.Agent({ keepAlive: true, ...(anyCertificate && { rejectUnauthorized: false }) })
  const socket = socketOf(url)
  const at = url.protocol === 'unix:' ? new URL(`http://localhost${url.pathname}${url.search}`) : url
  return ({ method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { ...socket, method, agent, signal, headers: { ...headers, ...always, ...length } }
      const request: ClientRequest = client.request(at, options, (response: IncomingMessage) => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, messages: () => read(response) })
      })
      request.on('error', (error) => reject(lostBy(error)))
      request.end(body)
    })
}

function lostBy(error: unknown): Lost {
  if (error instanceof Lost) return error
  // A host with several addresses fails with one error of all.
  const { code = 'no connection', errors } = error as { code?: string; errors?: { code?: string }[] }
  const first = errors?.[0]?.code ?? code
  return new Lost(away.has(first) ? 'away' : broken.has(first) ? 'broken' : 'refused', first)
}

const tooLong = (): Lost => new Lost('refused', 'an answer that is too long')

async function* read(response: IncomingMessage): AsyncGenerator<Told> {
  response.setEncoding('utf8')
  const chunks = response as AsyncIterable<string>
  const most = limits.clientAnswerBytes
  try {
    if (String(response.headers['content-type'] ?? '').startsWith('text/event-stream')) {
      yield* readEvents(chunks, { most, tooLong })
      return
    }
    let whole = ''
    for await (const chunk of chunks) {
      whole += chunk
      if (whole.length > most) throw tooLong()
    }
    if (whole !== '') yield { text: whole }
  } catch (error) {
    throw lostBy(error)
  }
}
