/** A small MCP server of somebody else, for tests: it says of its tools whatever it is told to, and answers as it is told. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Later } from './parley.ts'

export interface Foreign {
  readonly url: string
  readonly port: number
  /** The headers of each call of a tool. */
  readonly calls: { headers: IncomingHttpHeaders; params: { name: string; arguments: Record<string, unknown> } }[]
  tools: readonly object[]
  /** Answers a call; by default with the text "done". */
  answer: (response: ServerResponse, id: unknown) => void
  /** Answers instead, whatever the method, if it says that it did. */
  fault: (method: string, response: ServerResponse) => boolean
  stop(): Promise<void>
}

export const says = (response: ServerResponse, id: unknown, result: object): void => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

/** It speaks 2025-11-25, without sessions. */
export async function startForeign(later: Later, port = 0): Promise<Foreign> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    const { id, method, params } = JSON.parse(text)
    if (foreign.fault(method, response)) return
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'initialize') {
      const serverInfo = { name: 'foreign', version: '1' }
      return says(response, id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
    }
    if (method === 'tools/list') return says(response, id, { tools: foreign.tools })
    if (method === 'tools/call') {
      foreign.calls.push({ headers: request.headers, params })
      return foreign.answer(response, id)
    }
    const error = { code: -32601, message: 'Method not found' }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error }))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  later(stop)
  const at = (server.address() as AddressInfo).port
  const foreign: Foreign = {
    url: `http://127.0.0.1:${at}/mcp`,
    port: at,
    calls: [],
    tools: [],
    answer: (response, id) => says(response, id, { content: [{ type: 'text', text: 'done' }] }),
    fault: () => false,
    stop,
  }
  return foreign
}

/** A tool as a server lists it. */
export const foreignTool = (name: string, more: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  ...more,
})
