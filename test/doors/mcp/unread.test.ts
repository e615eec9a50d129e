/** Clients that ask and do not read: what waits for them is given up in time, and before it fills the memory. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { limits } from '../../../src/base/limits.ts'
import { TestClock } from '../../support/clock.ts'
import { readableLog } from '../../support/logged.ts'
import { verifies } from '../../support/verifies.ts'
import type { Fixture } from './fixture.ts'
import { both, call, http, openSession, rpc, useFixture } from './use.ts'

/** Small, for the sake of the test; a server's is 256 MiB. */
const budget = 64 << 20

/** A loaded machine takes its time to write megabytes. */
const soon = { timeout: 15_000, interval: 5 }

const megabytes = (n: number) => 'x'.repeat(n << 20)

/** Sends requests and reads nothing of the answers; `served` is the server's end of the connection. */
async function ask({ port, app }: Fixture, requests: readonly unknown[], headers: Record<string, string> = {}) {
  const arrived = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
  const socket = connect(port, '127.0.0.1').pause()
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  const texts = requests.map((body) => {
    const text = JSON.stringify(body)
    const all = {
      host: '127.0.0.1',
      'content-type': 'application/json',
      'content-length': `${text.length}`,
      ...headers,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return `POST /agents/alice/mcp HTTP/1.1\r\n${lines.join('')}\r\n${text}`
  })
  socket.write(texts.join(''))
  return { socket, served: await arrived }
}

const waits = ({ writableLength }: Socket) => writableLength > 0

const pop = (wait = false, meta?: object) => call('pop', { wait }, meta)

/** Looks at connections as often as the server does, until something is true; counts the looks. */
async function look(clock: TestClock, until: () => boolean): Promise<number> {
  let looks = 0
  for (; !until(); looks++) {
    clock.advance(5000)
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    if (looks > 20) throw new Error('it was never given up')
  }
  return looks
}

verifies(
  'all.unread.stalled',
  'an answer that nobody takes for 30 s is given up, and what it took is put back',
  async () => {
    const clock = new TestClock()
    const fixture = await useFixture({ clock })
    const { world } = fixture
    const timers = clock.pending
    world.mail.push(megabytes(16))
    const { served } = await ask(fixture, [pop()])
    await expect.poll(() => waits(served), soon).toBe(true)
    const looks = await look(clock, () => served.destroyed)
    // The kernel may still have taken something when it was looked at first.
    expect([6, 7, 8]).toContain(looks)
    await world.until(() => world.putBacks.length === 1)
    expect(world.mail).toHaveLength(1)
    expect(clock.pending).toBe(timers)
  },
)

verifies('all.unread.stalled', 'a client that reads slowly has all the time it needs', async () => {
  const clock = new TestClock()
  const fixture = await useFixture({ clock })
  fixture.world.mail.push(megabytes(24))
  const { socket, served } = await ask(fixture, [pop()])
  await expect.poll(() => waits(served), soon).toBe(true)
  const queued = () => (served as unknown as { _handle: { writeQueueSize: number } })._handle.writeQueueSize
  let received = 0
  let sip = 0
  socket.on('data', ({ length }: Buffer) => {
    received += length
    if (received >= sip) socket.pause()
  })
  for (let looks = 0; looks < 9; looks++) {
    const before = queued()
    const sipped = () => {
      if (queued() < before) return true
      sip = received + (256 << 10)
      socket.resume()
      return false
    }
    await expect.poll(sipped, { interval: 1, timeout: 15_000 }).toBe(true)
    clock.advance(5000)
    expect(served.destroyed).toBe(false)
  }
  sip = Number.POSITIVE_INFINITY
  socket.resume()
  await expect.poll(() => received, { timeout: 10_000 }).toBeGreaterThan(48 << 20)
  expect(fixture.world.putBacks).toEqual([])
})

verifies('all.unread.stalled', 'an answer that has become a stream of events is given up alike', async () => {
  const clock = new TestClock()
  const fixture = await useFixture({ clock })
  const { world } = fixture
  const { served } = await ask(fixture, [pop(true, { progressToken: 1 })], { accept: both })
  await world.until(() => world.waiting.length === 1)
  clock.advance(5000)
  world.mail.push(megabytes(16))
  world.release()
  await expect.poll(() => waits(served), soon).toBe(true)
  await look(clock, () => served.destroyed)
  await world.until(() => world.putBacks.length === 1)
})

verifies('all.unread.stalled', 'a stream of a session that nobody reads is closed', async () => {
  const clock = new TestClock()
  const fixture = await useFixture({ clock })
  const { world, url } = fixture
  const headers = { 'mcp-session-id': await openSession(url), accept: 'text/event-stream' }
  const uri = `test://watched/${'x'.repeat(8000)}`
  await http(url, { headers, body: rpc('resources/subscribe', { uri }) })
  const arrived = new Promise<Socket>((resolve) => fixture.app.server.once('connection', resolve))
  const socket = connect(fixture.port, '127.0.0.1').pause()
  onTestFinished(() => void socket.destroy())
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET /agents/alice/mcp HTTP/1.1\r\n${lines.join('')}\r\n`)
  const served = await arrived
  await expect.poll(() => served.bytesWritten, soon).toBeGreaterThan(0)
  // Until the kernel takes no more, with room to spare before events are too many by their size.
  while (served.writableLength < limits.unreadEventBytes / 4) {
    world.change(uri)
    await new Promise(setImmediate)
  }
  expect(served.destroyed).toBe(false)
  expect(await look(clock, () => served.destroyed)).toBeLessThan(10)
})

verifies(
  'all.unread.budget',
  'past the budget the answers that wait the longest are given up, the newest are not',
  async () => {
    const { log, lines } = readableLog()
    const fixture = await useFixture({ log, unsentBytes: budget })
    const { world, url } = fixture
    const clients: Socket[] = []
    // Text and structure: an answer is twice its mail.
    for (let n = 0; n < 5; n++) {
      world.mail.push(megabytes(8))
      const { served } = await ask(fixture, [pop()], { accept: both })
      await expect.poll(() => waits(served) || served.destroyed, soon).toBe(true)
      clients.push(served)
    }
    await world.until(() => world.putBacks.length === 2)
    expect(clients.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false, false])
    expect(clients.reduce((sum, { writableLength }) => sum + writableLength, 0)).toBeLessThan(budget)
    expect(lines.filter(({ level }) => level >= 40)).toMatchObject([{ level: 40, closed: 2 }])
    expect((await http(url, { body: rpc('ping') })).status).toBe(200)
  },
)

verifies('all.unread.budget', 'answers that queue up behind an unread one count too', async () => {
  const fixture = await useFixture({ unsentBytes: budget })
  const { world } = fixture
  for (let n = 0; n < 5; n++) world.mail.push(megabytes(8))
  const { served } = await ask(
    fixture,
    Array.from({ length: 5 }, () => pop()),
  )
  await expect.poll(() => served.destroyed, soon).toBe(true)
  await world.until(() => world.putBacks.length === 5)
})

verifies('all.unread.budget', 'the budget of a server is 256 MiB', () => {
  expect(limits.unsentBytes).toBe(256 << 20)
})

test('whoever reads is never cut off, however much is read', async () => {
  const { log, lines } = readableLog()
  const { world, url } = await useFixture({ log })
  for (let n = 0; n < 12; n++) world.mail.push(megabytes(4))
  const answers = await Promise.all(Array.from({ length: 12 }, () => http(url, { body: pop() })))
  expect(answers.map(({ text }) => text.length > 8 << 20)).toEqual(Array(12).fill(true))
  expect(lines.filter(({ level }) => level >= 40)).toEqual([])
})

verifies('all.unread.batch', 'a batch answers what fits, puts the rest back, and says so', async () => {
  const { world, url } = await useFixture()
  for (let n = 0; n < 4; n++) world.mail.push(megabytes(2))
  const body = [1, 2, 3, 4].map((id) => rpc('tools/call', { name: 'pop', arguments: { wait: false } }, id))
  const { json } = await http(url, { body })
  expect(json).toHaveLength(4)
  const refused = json.filter((part: { error?: { code: number } }) => part.error?.code === -32000)
  expect(refused).toHaveLength(3)
  await world.until(() => world.putBacks.length === 3)
  expect(world.mail).toHaveLength(3)
  world.mail = [megabytes(12)]
  expect((await http(url, { body: body.slice(0, 1) })).json[0].result.structuredContent.result).toHaveLength(12 << 20)
})
