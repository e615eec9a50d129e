/** The URL by which a client reaches the server: its own headers say nothing, those of trusted proxies do. */
import type { IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import { verifies } from '../../../test/support/verifies.ts'
import { createTrust } from './client-address.ts'
import { createIsOurs } from './host-check.ts'
import { createOrigin } from './origin.ts'

const request = (from: string, headers: Record<string, string>) =>
  ({
    socket: { remoteAddress: from },
    headers: { host: 'parley.example:8765', ...headers },
  }) as unknown as IncomingMessage

const origin = createOrigin({
  basePath: '/p',
  trusts: createTrust(['10.0.0.0/8']),
  isOurs: createIsOurs({ host: '127.0.0.1', allowedHosts: ['hub.example'] }),
})

verifies('serve.proxies.trusted', 'a trusted proxy says by which scheme and host its client came', () => {
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'hub.example' }
  expect(origin.originOf(request('10.1.2.3', forwarded))).toBe('https://hub.example/p')
  expect(origin.originOf(request('192.0.2.1', forwarded))).toBe('http://parley.example:8765/p')
  expect(origin.isSecure(request('192.0.2.1', forwarded))).toBe(false)
})

verifies('serve.proxies.trusted', 'and never another host than ours, which a client may have sent through it', () => {
  for (const host of [
    'evil.example',
    'hub.example@evil.example',
    'evil.example/hub.example',
    'hub.example, evil.example',
  ])
    expect(origin.originOf(request('10.1.2.3', { 'x-forwarded-host': host }))).toBe('http://parley.example:8765/p')
  const known = createOrigin({
    publicUrl: 'https://hub.example/p',
    basePath: '/p',
    trusts: () => true,
    isOurs: () => true,
  })
  expect(known.originOf(request('10.1.2.3', { 'x-forwarded-host': 'evil.example' }))).toBe('https://hub.example/p')
})
