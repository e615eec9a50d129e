/** `mailbox_wait`: a message comes at once, to one client of its agent, and is not lost with its answer. */
import { PassThrough, Writable } from 'node:stream'
import { describe, expect } from 'vitest'
import { createMetrics } from '../../../src/base/metrics.ts'
import { Arrivals } from '../../../src/doors/mailbox-client/arrivals.ts'
import { mailboxClientDoor } from '../../../src/doors/mailbox-client/door.ts'
import { News } from '../../../src/doors/mailbox-client/news.ts'
import { createServer } from '../../../src/doors/mailbox-client/server.ts'
import { createEngine } from '../../../src/doors/mcp/protocol/engine.ts'
import { serveStdio } from '../../../src/doors/mcp/stdio/serve.ts'
import { clock, ids, type Owner, pair, silent, startMailbox, unreadOf } from '../../support/mailbox-client.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

const nothing = 'No new messages. Call mailbox_wait again to go on waiting.'

verifies('client.wait.arrives', 'It ends as soon as a message is sent, which is read then', async () => {
  const { url } = parley()
  const [alice, bob] = await pair(parley())
  const { call } = await startMailbox({ url, key: bob.key })
  await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'there already' })
  await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'and this' })
  const both = await call('mailbox_wait', { wait_seconds: 0, after: 'x' })
  expect(both).toMatch(/^2 new messages\./)
  expect(both).toMatch(/> there already\n[\s\S]*> and this\n/)
  await expect.poll(() => unreadOf(bob)).toEqual([])
  expect(await call('mailbox_wait', { wait_seconds: 0 })).toBe(nothing)
  const waiting = call('mailbox_wait', { wait_seconds: 20 })
  const from = performance.now()
  await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'now' })
  expect(await waiting).toContain('> now\n')
  // Not the five seconds after which it would ask without a WebSocket.
  expect(performance.now() - from).toBeLessThan(4000)
})

verifies('client.wait.arrives', 'A longer wait is cut to MAX_WAIT_SECONDS', async () => {
  const [, bob] = await pair(parley())
  const { call } = await startMailbox({ url: parley().url, key: bob.key, env: { MAX_WAIT_SECONDS: '0.2' } })
  expect(await call('mailbox_wait', { wait_seconds: 3600 })).toBe(nothing)
})

verifies('client.wait.once', 'Of two clients with one key, one is given the message', async () => {
  const { url } = parley()
  const [alice, bob] = await pair(parley())
  const clients = await Promise.all([0, 1].map(() => startMailbox({ url, key: bob.key })))
  const waits = clients.map(({ call }) => call('mailbox_wait', { wait_seconds: 2 }))
  await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'only once' })
  const heard = await Promise.all(waits)
  expect(heard.filter((text) => text.includes('> only once\n'))).toHaveLength(1)
  expect(heard.filter((text) => text === nothing)).toHaveLength(1)
  await expect.poll(() => unreadOf(bob)).toEqual([])

  // Nor is it given twice to a client that waits twice.
  const twice = [0, 1].map(() => clients[0]?.call('mailbox_wait', { wait_seconds: 1 }))
  await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'again once' })
  expect((await Promise.all(twice)).filter((text) => text?.includes('> again once\n'))).toHaveLength(1)
})

verifies('client.wait.connections', 'An event that arrives twice is told once', async () => {
  const [, { key }] = await pair(parley())
  const server = createServer({ url: parley().url, key, clock, ids, client: 'one process' })
  const arrivals = new Arrivals({ server, news: new News(clock), clock, connected: () => true })
  const event = {
    type: 'connection_request',
    connection_id: '1',
    from_agent: 'eve',
    message: 'Hi',
    verification_code: null,
  }
  for (const one of [event, event, { ...event, connection_id: '2' }, { type: 'unheard of' }, null]) arrivals.note(one)
  const wait = async () =>
    (await arrivals.wait({ ms: 0, signals: [] })).connections.map(({ connection_id }) => connection_id)
  expect(await wait()).toEqual(['1', '2'])
  arrivals.note(event)
  expect(await wait()).toEqual([])
})

describe('An answer that does not reach its host', () => {
  /** The client in this process, over a pipe that may be broken. */
  function open({ key }: Owner) {
    const server = createServer({ url: parley().url, key, clock, ids, client: 'one process' })
    const arrivals = new Arrivals({ server, news: new News(clock), clock, connected: () => false })
    const handled = (id: string) => void server.markRead(id)
    return mailboxClientDoor({ server, arrivals, waitMs: 1000, handled })
  }

  async function wait(door: ReturnType<typeof open>, broken: boolean): Promise<string> {
    let written = ''
    const stdin = new PassThrough()
    const stdout = new Writable({
      write(text, _encoding, done) {
        if (!broken) written += text
        done(broken ? new Error('EPIPE') : undefined)
      },
    })
    const engine = createEngine({ clock, ids, log: silent, metrics: createMetrics(), version: '1' })
    const served = serveStdio(door, undefined, { engine, stdin, stdout })
    const params = { name: 'mailbox_wait', arguments: { wait_seconds: 0 } }
    stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
    await served
    return written
  }

  verifies('client.wait.lost', 'leaves the message unread, and the next wait has it again', async () => {
    const [alice, bob] = await pair(parley())
    await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'do not lose me' })
    const door = open(bob)
    expect(await wait(door, true)).toBe('')
    expect(await unreadOf(bob)).toEqual(['do not lose me'])
    expect(await wait(door, false)).toContain('> do not lose me')
    await expect.poll(() => unreadOf(bob)).toEqual([])
    expect(await wait(door, false)).toContain(nothing)
  })
})
