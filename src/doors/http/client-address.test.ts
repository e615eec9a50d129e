/** Whose address counts, by the header that proxies set and clients forge. */
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createClientAddress } from './client-address.ts'

const from = (remoteAddress: string | undefined, ...forwarded: string[]): IncomingMessage =>
  ({ socket: { remoteAddress }, headersDistinct: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

const cases: [trusted: string[], request: IncomingMessage, address: string][] = [
  [[], from('10.0.0.2', '203.0.113.7'), '10.0.0.2'],
  [['10.0.0.2'], from('10.0.0.2'), '10.0.0.2'],
  [['10.0.0.2'], from('10.0.0.2', '203.0.113.7'), '203.0.113.7'],
  [['10.0.0.2'], from('10.0.0.3', '203.0.113.7'), '10.0.0.3'],
  // The client wrote the first one itself; the proxy added the second.
  [['10.0.0.2'], from('10.0.0.2', '127.0.0.1, 203.0.113.7'), '203.0.113.7'],
  [['10.0.0.2'], from('10.0.0.2', '127.0.0.1', '203.0.113.7'), '203.0.113.7'],
  // A proxy behind a proxy.
  [['10.0.0.0/8', '2001:db8::/32'], from('10.0.0.2', '198.51.100.1, 203.0.113.7, 2001:db8::5'), '203.0.113.7'],
  [['10.0.0.2'], from('::ffff:10.0.0.2', '203.0.113.7'), '203.0.113.7'],
  [['10.0.0.2'], from('10.0.0.2', 'unknown'), '10.0.0.2'],
  [['10.0.0.0/8'], from('10.0.0.2', '10.0.0.9, 10.0.0.3'), '10.0.0.9'],
  // A Unix socket has no addresses.
  [['10.0.0.2'], from(undefined, '203.0.113.7'), ''],
  [['unix'], from(undefined, '127.0.0.1, 203.0.113.7'), '203.0.113.7'],
  [['unix'], from('10.0.0.2', '203.0.113.7'), '10.0.0.2'],
]

test.each(cases)('trusting %j', (trusted, request, address) => {
  expect(createClientAddress(trusted)(request)).toBe(address)
})
