/** A tool call in each of the ways a client may phrase it. */
import { connect } from 'node:net'
import { readAnswers, request } from './drive.ts'

export type Era = 'plain' | 'session' | 'modern'

interface Phrasing {
  headers(tool: string, session?: string): Record<string, string>
  body(id: number, tool: string, args: Record<string, unknown>): string
}

const call = (id: number, params: Record<string, unknown>) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })

const accept = { Accept: 'application/json, text/event-stream' }

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} }, roots: {} },
}

const phrasings: Record<Era, Phrasing> = {
  plain: {
    headers: () => ({}),
    body: (id, name, args) => call(id, { name, arguments: args }),
  },
  session: {
    headers: (_tool, session = '') => ({ ...accept, 'MCP-Protocol-Version': '2025-11-25', 'Mcp-Session-Id': session }),
    body: (id, name, args) => call(id, { name, arguments: args }),
  },
  modern: {
    headers: (tool) => ({
      ...accept,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': tool,
    }),
    body: (id, name, args) => call(id, { name, arguments: args, _meta: envelope }),
  },
}

export const phrase = (era: Era): Phrasing => phrasings[era]

/** Opens an MCP session as the 2025 clients do, and returns its id. */
export function openSession(port: number, path: string): Promise<string> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
  })
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request(port, path, accept, body)))
    socket.once('error', reject)
    readAnswers(socket, (head) => {
      socket.end()
      const id = /\r\nmcp-session-id: (\S+)\r\n/i.exec(head)?.[1]
      if (id === undefined) reject(new Error('initialize brought no session id'))
      else resolve(id)
    })
  })
}
