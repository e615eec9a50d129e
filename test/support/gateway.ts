/** A gateway of OpenClaw for tests: the two calls that the bridge makes, answered as the real one of 2026.9.6 answers them. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const gatewayToken = 'oc-test-token'

export interface Call {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: {
    tool?: string
    args?: { sessionKey: string; message: string; timeoutSeconds: number }
    sessionKey?: string
    model?: string
    messages?: { role: string; content: string }[]
  }
}

export type Reply = (response: ServerResponse, call: Call) => void

export interface Gateway {
  /** As OPENCLAW_GATEWAY_URL. */
  readonly url: string
  readonly calls: readonly Call[]
  /** The texts that it was given, in their order. */
  texts(): string[]
  /** The next answers, in this order; the last one stays. */
  replies(...next: Reply[]): void
  /** Resolves once it has had so many calls. */
  called(count: number): Promise<void>
}

const json = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** The result of a tool: its details, and the same as text. */
export const details =
  (value: object): Reply =>
  (response) =>
    json(response, 200, {
      ok: true,
      result: { content: [{ type: 'text', text: JSON.stringify(value) }], details: value },
    })

export const accepts = details({ status: 'accepted', runId: 'run-1', targetDisposition: 'queued' })

export const answers =
  (content: string | ((call: Call) => string)): Reply =>
  (response, call) =>
    json(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'openclaw/main',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: typeof content === 'string' ? content : content(call) },
        },
      ],
    })

export const status =
  (code: number, body: unknown = {}): Reply =>
  (response) =>
    json(response, code, body)

export const raw =
  (text: string): Reply =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(text)

export const hangsUp: Reply = (response) => response.socket?.destroy()

export const unauthorized = status(401, { error: { message: 'Unauthorized', type: 'unauthorized' } })

export async function startGateway({ port = 0 } = {}): Promise<Gateway & { stop(): Promise<void> }> {
  const calls: Call[] = []
  let waiting: (() => void)[] = []
  let next: Reply[] = [accepts]
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const call = { path: request.url, headers: request.headers, body: JSON.parse(Buffer.concat(pieces).toString()) }
    if (request.headers.authorization !== `Bearer ${gatewayToken}`) return unauthorized(response, call)
    calls.push(call)
    const reply = next.length > 1 ? next.shift() : next[0]
    reply?.(response, call)
    for (const look of waiting.splice(0)) look()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    waiting = []
  }
  onTestFinished(stop)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    texts: () => calls.map(({ body }) => body.args?.message ?? body.messages?.[0]?.content ?? ''),
    replies: (...replies) => {
      next = replies
    },
    async called(count) {
      while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    stop,
  }
}
