/** An endpoint that speaks the chat completions of OpenAI, for tests: it answers what it is told to, and remembers what it was asked. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: {
    model: string
    messages: { role: string; content: string }[]
    max_tokens?: number
    max_completion_tokens?: number
    temperature?: number
  }
}

export type Reply = (response: ServerResponse, asked: Asked) => void

export interface Endpoint {
  /** As LLM_BASE_URL. */
  readonly url: string
  readonly asked: readonly Asked[]
  /** The next answers, in this order; the last one stays. */
  replies(...next: Reply[]): void
}

const send = (response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

/** A completion with this text, as it would cost 100 + 20 tokens. */
export const says =
  (content: unknown): Reply =>
  (response) =>
    send(
      response,
      200,
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: { role: 'assistant', content: typeof content === 'string' ? content : JSON.stringify(content) },
          },
        ],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      }),
    )

export const fails =
  (status: number, headers: Record<string, string> = {}, error: Record<string, unknown> = {}): Reply =>
  (response) =>
    send(response, status, JSON.stringify({ error: { message: 'no', ...error } }), headers)

export const raw =
  (text: string): Reply =>
  (response) =>
    send(response, 200, text)

export const hangs: Reply = () => {}

export async function startEndpoint(): Promise<Endpoint> {
  const asked: Asked[] = []
  let next: Reply[] = [says('fine')]
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const question = { path: request.url, headers: request.headers, body: JSON.parse(Buffer.concat(pieces).toString()) }
    asked.push(question)
    const reply = next.length > 1 ? next.shift() : next[0]
    reply?.(response, question)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    replies: (...replies) => {
      next = replies
    },
  }
}
