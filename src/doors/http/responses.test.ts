/** Responses of a server that stops: each ends its connection. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { createResponses } from './responses.ts'

verifies('serve.stop.drain', 'answers and streams that were begun before it end their connections', async () => {
  let ending = false
  const Response = createResponses({
    clock: new TestClock(),
    log: pino({ level: 'silent' }),
    ending: () => ending,
  })
  const server = createServer({ ServerResponse: Response, keepAliveTimeout: 600_000 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const ask = async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
    return { socket, response }
  }
  const stream = await ask()
  const wait = await ask()
  stream.response.write('begun, ')
  ending = true
  stream.response.end('ended')
  wait.response.end('answered')
  // Read to the end of the connection, to which one that stays open never comes.
  const [streamed, answered] = await Promise.all([text(stream.socket), text(wait.socket)])
  expect(streamed).toMatch(/Connection: keep-alive.*begun, .*ended/s)
  expect(answered).toMatch(/Connection: close.*answered/s)
  server.close()
})
