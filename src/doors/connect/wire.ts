/** HTTP requests to a door, answered by JSON or by a stream of events; one connection is kept for the next request. */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { limits } from '../../base/limits.ts'

export interface Sent {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

export interface Told {
  /** Of an event of a stream. */
  readonly id?: string
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

/** An import by name would load the whole of fetch and WebSocket with it: 30 ms of a start. */
const moduleFor = ({ protocol }: URL) =>
  protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http')

export function createWire(url: URL, always: Readonly<Record<string, string>>): Wire {
  const client = moduleFor(url)
  const agent = new client.Agent({ keepAlive: true })
  return ({ method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = { method, agent, signal, headers: { ...headers, ...always, ...length } }
      const request: ClientRequest = client.request(url, options, (response: IncomingMessage) => {
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

async function* read(response: IncomingMessage): AsyncGenerator<Told> {
  response.setEncoding('utf8')
  const events = String(response.headers['content-type'] ?? '').startsWith('text/event-stream')
  let [rest, data, id]: [string, string[], string | undefined] = ['', [], undefined]
  try {
    for await (const chunk of response as AsyncIterable<string>) {
      rest += chunk
      if (rest.length > limits.clientAnswerBytes) throw new Lost('refused', 'an answer that is too long')
      if (!events) continue
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const raw of lines) {
        const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
        if (line === '') {
          if (data.length > 0 || id !== undefined) yield { text: data.join('\n'), ...(id !== undefined && { id }) }
          data = []
          id = undefined
        } else if (line.startsWith('data:')) data.push(line.slice(5).trimStart())
        else if (line.startsWith('id:')) id = line.slice(3).trim()
      }
    }
  } catch (error) {
    throw lostBy(error)
  }
  if (!events && rest !== '') yield { text: rest }
}
