/** The same door served by the SDK's own handler: what the engine is compared with. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, ProtocolError, ResourceNotFoundError, Server } from '@modelcontextprotocol/server'
import { systemClock } from '../../../src/base/clock.ts'
import { createEngine } from '../../../src/doors/mcp/protocol/engine.ts'
import { createService } from '../../../src/doors/mcp/protocol/service.ts'
import { fixtureDoor, World } from './door.ts'
import { engineOptions } from './engine.ts'

/** Serves the lists and a few tools of the fixture; what the tools do is not compared, only how calls are answered. */
function build(): Server {
  const engine = createEngine(engineOptions({ clock: { ...systemClock, after: () => () => {} } }))
  const service = createService(fixtureDoor(new World()), engine)
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {} }
  const server = new Server(service.serverInfo, { capabilities, instructions: service.door.instructions })
  server.setRequestHandler('tools/list', () => ({ tools: service.offered({} as never).list('nothing') }) as never)
  server.setRequestHandler('tools/call', ({ params }) => {
    if (params.name === 'echo') {
      const structuredContent = { text: 'x', agent: 'alice', client: 'x 1' }
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
    }
    if (params.name === 'text') return { content: [{ type: 'text', text: 'one\ntwo' }] }
    throw new ProtocolError(-32602, `Unknown tool: ${params.name}`)
  })
  server.setRequestHandler('resources/list', () => ({ resources: service.lists.resources }) as never)
  server.setRequestHandler(
    'resources/templates/list',
    () => ({ resourceTemplates: service.templates('nothing') }) as never,
  )
  server.setRequestHandler('resources/read', ({ params }) => {
    if (params.uri !== 'test://static') throw new ResourceNotFoundError(params.uri)
    return { contents: [{ uri: params.uri, mimeType: 'application/json', text: '{"always":"the same"}' }] }
  })
  server.setRequestHandler('resources/subscribe', () => ({}))
  server.setRequestHandler('resources/unsubscribe', () => ({}))
  server.setRequestHandler('prompts/list', () => ({ prompts: service.lists.prompts }) as never)
  server.setRequestHandler('prompts/get', () => {
    throw new ProtocolError(-32602, 'Unknown prompt')
  })
  return server
}

export async function startReference(): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createMcpHandler(build)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const headers = new Headers()
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value))
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && body.length > 0
    const { method = 'GET' } = request
    const answer = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, { method, headers, ...(hasBody && { body }) }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    await handler.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close }
}
