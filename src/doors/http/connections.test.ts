/** The end of listening: whoever has connected by then is served. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { verifies } from '../../../test/support/verifies.ts'
import { stopListening } from './connections.ts'

verifies('serve.stop.drain', 'connections that wait to be accepted are not reset', async () => {
  const server = createServer((_, response) => response.setHeader('Connection', 'close').end('served'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const answers = Array.from({ length: 40 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    return text(socket).catch((error: Error) => error.message)
  })
  await stopListening({ server } as Parameters<typeof stopListening>[0])
  for (const answer of await Promise.all(answers)) expect(answer).toContain('served')
})
