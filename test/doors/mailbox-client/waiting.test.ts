/** `mailbox_wait`: a message comes at once, to one client of its agent, and is not lost with its answer. */
import { PassThrough, Writable } from 'node:stream'
import { describe, expect } from 'vitest'
import { createMetrics } from '../../../src/base/metrics.ts'
import { Arrivals } from '../../../src/doors/mailbox-client/arrivals.ts'
import { mailboxClientDoor } from '../../../src/doors/mailbox-client/door.ts'
import { createServer } from '../../../src/doors/mailbox-client/server.ts'
import { createEngine } from '../../../src/doors/mcp/protocol/engine.ts'
import { serveStdio } from '../../../src/doors/mcp/stdio/serve.ts'
import { clock, ids, type Owner, pair, register, silent, startMailbox, unreadOf } from '../../support/mailbox-client.ts'
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
  const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
  const arrivals = arrivalsOf(bob)
  const { connection_id } = await alice.rest.connect(bob.name, 'Hi')
  const event = { type: 'connection_request', connection_id, from_agent: alice.name }
  const approved = { type: 'connection_approved', connection_id: '2', connected_agent: 'eve' }
  for (const one of [event, event, approved, approved, { type: 'unheard of' }, null]) arrivals.note(one)
  const told = await arrivals.wait({ ms: 0, signals: [] })
  expect(told).toMatchObject({ requests: [{ connection_id, message: 'Hi' }], approved: [{ connected_agent: 'eve' }] })
  for (const one of [event, approved]) arrivals.note(one)
  expect(await arrivals.wait({ ms: 0, signals: [] })).toMatchObject({ requests: [], approved: [] })
  // One whose answer was lost comes again.
  arrivals.putBack(told)
  expect(await arrivals.wait({ ms: 0, signals: [] })).toMatchObject({ requests: [{ connection_id }] })
})

verifies('client.wait.connections', 'A request that was answered takes the place of no message', async () => {
  const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
  const arrivals = arrivalsOf(bob)
  const { connection_id, verification_code } = await alice.rest.connect(bob.name, 'Hi')
  arrivals.note({ type: 'connection_request', connection_id, from_agent: alice.name, verification_code })
  await bob.rest.approve(verification_code ?? '')
  expect(await arrivals.wait({ ms: 0, signals: [] })).toMatchObject({ messages: [], requests: [] })
  arrivals.note({ type: 'connection_request', connection_id, from_agent: alice.name, verification_code })
  const waiting = arrivals.wait({ ms: 20_000, signals: [] })
  await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'the first words' })
  arrivals.note({ type: 'new_message' })
  expect(await waiting).toMatchObject({ messages: [{ content: 'the first words' }], requests: [] })
})

verifies('client.wait.connections', 'A client that is approved by another one tells of no old request', async () => {
  const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
  const his = await startMailbox({ url: parley().url, key: bob.key })
  expect(await his.call('mailbox_wait', { wait_seconds: 0 })).toBe(nothing)
  const { verification_code } = await alice.rest.connect(bob.name, 'Hi')
  await bob.rest.approve(verification_code ?? '')
  const waiting = his.call('mailbox_wait', { wait_seconds: 20 })
  await alice.rest.send({ to: bob.name, subject: 'Plan', content: 'the first words' })
  const heard = await waiting
  expect(heard).toContain('> the first words\n')
  expect(heard).not.toContain('asked to connect')
})

function arrivalsOf({ key }: Owner): Arrivals {
  const server = createServer({ url: parley().url, key, clock, ids, client: 'one process' })
  return new Arrivals({ server, clock, connected: () => true })
}

describe('An answer that does not reach its host', () => {
  /** The client in this process, over a pipe that may be broken. */
  function open({ key }: Owner) {
    const server = createServer({ url: parley().url, key, clock, ids, client: 'one process' })
    const arrivals = new Arrivals({ server, clock, connected: () => false })
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
