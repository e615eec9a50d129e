/** Floor (a): a bare node:http server that parses the JSON body and checks it with zod. Prints its port. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const schema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.number(),
  method: z.string(),
  params: z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
})

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id } = schema.parse(JSON.parse(Buffer.concat(chunks).toString()))
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: { content: [{ type: 'text', text: '{"result":"ok"}' }], structuredContent: { result: 'ok' } },
    })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  })
})
// The load keeps its connections while others have their turn.
server.keepAliveTimeout = 0
setImmediate(() => server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port)))
