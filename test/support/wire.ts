/** HTTP as no good client sends it: any Host, any path, requests that stop halfway; and the bare session of an old one. */
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface Asked {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

/** A request whose path and headers go out as they are given. */
export function ask({ port }: { port: number }, { method = 'GET', path, headers = {}, body }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.once('error', reject)
    })
    request.once('error', reject)
    request.end(body)
  })
}

/** A `tools/call` of the mailbox door, ready for `ask` and `fetch`. */
export const checkMail = (agent: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  path: `/agents/${agent}/mcp`,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'check_mail', arguments: {} } }),
})

/** A connection on which exactly what the test writes is sent; gone with the test. */
export async function openSocket({ port }: { port: number }): Promise<Socket & { readonly received: () => string }> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (part: string) => {
    text += part
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return Object.assign(socket, { received: () => text })
}

/** A POST of which the server has taken the head and half of the body. `finish` sends the rest and reads the answer. */
export async function sendHalf(parley: { port: number }, path: string, body: object) {
  const socket = await openSocket(parley)
  const bytes = Buffer.from(JSON.stringify(body))
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${parley.port}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
    // The server's 100 is the sign that it has begun with the request.
    'Expect: 100-continue',
    'Connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  while (!socket.received().includes('100 Continue\r\n\r\n')) await once(socket, 'data')
  socket.write(bytes.subarray(0, bytes.length / 2))
  return {
    socket,
    async finish(): Promise<string> {
      socket.write(bytes.subarray(bytes.length / 2))
      if (!socket.closed) await once(socket, 'close')
      return socket.received()
    },
  }
}

/** The id of a session opened as clients before 2026-07-28 do. */
export async function openSession(endpoint: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'parley-test', version: '1.0.0' },
      },
    }),
  })
  await response.text()
  const id = response.headers.get('mcp-session-id')
  if (id === null) throw new Error(`${response.status}: no session was opened`)
  return id
}

/** The HTTP status of a ping within a session. */
export async function pingSession(endpoint: string, id: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Mcp-Session-Id': id, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  await response.text()
  return response.status
}
