/** Being told of messages: by the stream of a session, and by listening. */
import { describe, expect } from 'vitest'
import { eachEngine } from '../../support/engines.ts'
import { type EventStream, listenEvents, sessionEvents, subscribe } from '../../support/events.ts'
import { hubDoorOf, threadUri } from '../../support/hub-door.ts'
import { connectClient, eras, type Served, serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { openSession, pingSession } from '../../support/wire.ts'

const parley = shareServer()
const as = (agent: string, served: Served = parley()) => hubDoorOf(served, agent)

let count = 0
const names = (...all: string[]): string[] => {
  count++
  return all.map((name) => `${name}${count}`)
}

/** The last update of an order: what has not come before it does not come any more. */
async function fence(alice: string, bob: string, served: Served = parley()) {
  const { thread } = await as(alice, served).send(bob, 'fence')
  return { uri: threadUri(thread), push: () => as(alice, served).send(bob, 'now', { thread }) }
}

verifies('hub.updates.each', 'each message is told once and in order, in both eras', async () => {
  const [alice = '', bob = ''] = names('alice', 'bob')
  const { thread: one } = await as(alice).send(bob, 'before')
  const { thread: two } = await as(alice).send(bob, 'before')
  const [first, second] = [threadUri(one), threadUri(two)]
  const token = await openSession(as(bob).endpoint)
  for (const uri of [first, second]) await subscribe(as(bob).endpoint, token, uri)
  const old = await sessionEvents(as(bob).endpoint, token)
  const listened = await listenEvents(as(bob).endpoint, [first, second])
  const expected: string[] = []
  for (let n = 0; n < 20; n++) {
    const thread = n % 3 === 0 ? two : one
    await as(n % 2 === 0 ? alice : bob).send(n % 2 === 0 ? bob : alice, `${n}`, { thread })
    expected.push(threadUri(thread))
  }
  await Promise.all([old.until(20), listened.until(20)])
  expect(old.uris()).toEqual(expected)
  expect(listened.uris()).toEqual(expected)
  const ids = old.events.flatMap(({ id, message }) => (message === undefined ? [] : [id]))
  expect(new Set(ids).size).toBe(ids.length)
  // Once it is told, it can be read.
  const seen: number[] = []
  const client = await connectClient(as(bob).endpoint, '2025-11-25')
  client.setNotificationHandler('notifications/resources/updated', async ({ params: { uri } }) => {
    seen.push((await as(bob).read<{ messages: unknown[] }>(`${uri}?limit=200`)).messages.length)
  })
  await client.subscribeResource({ uri: first })
  const had = (await as(bob).thread(one, { limit: 200 })).messages.length
  await as(alice).send(bob, 'one more', { thread: one })
  await expect.poll(() => seen).toEqual([had + 1])
})

verifies('hub.updates.mail', 'who follows itself is told of what comes to it, from the first message on', async () => {
  const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
  const self = `apm2://agents/${bob}`
  // Nobody has heard of bob as yet.
  const token = await openSession(as(bob).endpoint)
  await subscribe(as(bob).endpoint, token, self)
  await subscribe(as(bob).endpoint, token, 'apm2://agents')
  const stream = await sessionEvents(as(bob).endpoint, token)
  await as(alice).send(carol, 'not for bob')
  await as(alice).send(bob, 'one')
  await as(bob).send(alice, 'my own')
  await as(alice).send(bob, 'two')
  await stream.until(5)
  // Three agents came to be: alice, carol and bob.
  expect(stream.uris().toSorted()).toEqual([...Array(3).fill('apm2://agents'), self, self])
})

verifies('hub.updates.silent', 'what is foreign or unknown stays silent, until it is granted', async () => {
  const [alice = '', bob = '', mallory = ''] = names('alice', 'bob', 'mallory')
  const { thread } = await as(alice).send(bob, 'secret')
  await as(mallory).send(mallory, 'I am here')
  const { uri, push } = await fence(alice, mallory)
  const foreign = [threadUri(thread), `apm2://agents/${bob}`, 'apm2://threads/no-such', 'test://watched', 'apm2://x']
  const token = await openSession(as(mallory).endpoint)
  for (const one of [...foreign, uri])
    expect(await subscribe(as(mallory).endpoint, token, one)).toMatchObject({ status: 200, result: {} })
  const stream = await sessionEvents(as(mallory).endpoint, token)
  const listened = await listenEvents(as(mallory).endpoint, [...foreign, uri])
  await as(alice).send(bob, 'more', { thread })
  await push()
  await Promise.all([stream.until(1), listened.until(1)])
  expect([stream.uris(), listened.uris()]).toEqual([[uri], [uri]])
  const { grant_id } = await as(alice).call<{ grant_id: string }>('apm2.grant.create', { agent: mallory, thread })
  await as(bob).send(alice, 'seen', { thread })
  await as(alice).call('apm2.grant.revoke', { grant_id })
  await as(bob).send(alice, 'not seen', { thread })
  await push()
  await Promise.all([stream.until(3), listened.until(3)])
  expect(stream.uris()).toEqual([uri, threadUri(thread), uri])
  expect(listened.uris()).toEqual([uri, threadUri(thread), uri])
})

describe('A session that was away', () => {
  verifies('hub.updates.resumed', 'is told what it missed, in order and once, also by another process', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const before = await serveHere()
    const { storage } = before
    const { thread } = await as(alice, before).send(bob, 'zero')
    const uri = threadUri(thread)
    const self = `apm2://agents/${bob}`
    const path = (served: Served) => as(bob, served).endpoint
    const token = await openSession(path(before))
    for (const one of [uri, self]) await subscribe(path(before), token, one)
    // Sent before the stream was there.
    await as(alice, before).send(bob, 'one', { thread })
    const first = await sessionEvents(path(before), token)
    await first.until(2)
    await as(alice, before).send(bob, 'two', { thread })
    await first.until(4)
    expect(first.uris()).toEqual([uri, self, uri, self])
    const told = first.events.filter(({ message }) => message !== undefined)
    first.end()
    await before.stop()
    const after = await serveHere({ storage })
    await as(alice, after).send(bob, 'three', { thread })
    // Between the two updates of one message.
    const again = await sessionEvents(path(after), token, told[2]?.id)
    await as(alice, after).send(bob, 'four', { thread })
    await again.until(5)
    expect(again.uris()).toEqual([self, uri, self, uri, self])
    // A stream that has told nothing yet names a place to come back to.
    const idle = await sessionEvents(path(after), token, again.events.at(-1)?.id)
    await expect.poll(() => idle.events.length).toBe(1)
    idle.end()
    await as(alice, after).send(bob, 'five', { thread })
    const last = await sessionEvents(path(after), token, idle.events[0]?.id)
    await last.until(2)
    expect(last.uris()).toEqual([uri, self])
  })

  verifies('hub.updates.unknown-id', 'and names an event that is not its own is told nothing of before', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'zero')
    const uri = threadUri(thread)
    const [mine, other] = [await openSession(as(bob).endpoint), await openSession(as(bob).endpoint)]
    for (const token of [mine, other]) await subscribe(as(bob).endpoint, token, uri)
    const theirs = await sessionEvents(as(bob).endpoint, other)
    await as(alice).send(bob, 'one', { thread })
    await as(alice).send(bob, 'two', { thread })
    await theirs.until(2)
    const [, event] = theirs.events
    for (const id of [event?.id ?? '', 'nonsense', `${event?.id?.split('.')[0]}.9-9999999999-0`, '']) {
      const stream = await sessionEvents(as(bob).endpoint, mine, id)
      await expect.poll(() => stream.events.length).toBe(1)
      await as(alice).send(bob, 'next', { thread })
      await stream.until(1)
      expect(stream.uris()).toEqual([uri])
      stream.end()
    }
  })

  verifies('hub.updates.kept', 'for a thousand messages is told of the newest thousand', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'zero')
    const token = await openSession(as(bob).endpoint)
    await subscribe(as(bob).endpoint, token, threadUri(thread))
    for (let n = 0; n < 21; n++)
      await Promise.all(Array.from({ length: 50 }, () => as(bob).send(alice, 'x', { thread })))
    const stream = await sessionEvents(as(bob).endpoint, token)
    await stream.until(1000)
    await as(bob).send(alice, 'the last', { thread })
    await stream.until(1001)
    expect(stream.uris()).toHaveLength(1001)
  })
})

eachEngine('With two servers on one database', (open) => {
  verifies(
    'hub.updates.anywhere',
    'a message of one is told by the other, and a subscription holds at both',
    async () => {
      const [alice = '', bob = ''] = names('alice', 'bob')
      const env = { SECRET_KEY: 'the same for both nodes', DATABASE_URL: (await open()).url }
      const [here, there] = [await serveHere({ env }), await serveHere({ env })]
      const { thread } = await as(alice, here).send(bob, 'zero')
      const { thread: other } = await as(alice, here).send(bob, 'zero')
      const token = await openSession(as(bob, here).endpoint)
      const stream = await sessionEvents(as(bob, there).endpoint, token)
      for (const one of [thread, other]) await subscribe(as(bob, here).endpoint, token, threadUri(one))
      const listened = await listenEvents(as(bob, there).endpoint, [threadUri(thread), threadUri(other)])
      const sends: Promise<unknown>[] = []
      for (let n = 0; n < 10; n++)
        for (const [served, one] of [
          [here, thread],
          [there, other],
        ] as const)
          sends.push(as(alice, served).send(bob, `${n}`, { thread: one }))
      await Promise.all(sends)
      await Promise.all([stream.until(20), listened.until(20)])
      const told = [...Array(10).fill(threadUri(thread)), ...Array(10).fill(threadUri(other))].toSorted()
      expect(stream.uris().toSorted()).toEqual(told)
      expect(listened.uris().toSorted()).toEqual(told)
      await Promise.all([here.stop(), there.stop()])
    },
  )
})

/** One follower of a resource, as each era follows. */
const follow: Readonly<Record<(typeof eras)[number], (url: string, uri: string) => Promise<EventStream>>> = {
  async '2025-11-25'(url, uri) {
    const token = await openSession(url)
    await subscribe(url, token, uri)
    return sessionEvents(url, token)
  },
  '2026-07-28': (url, uri) => listenEvents(url, [uri]),
}

describe.each(eras)('A thousand followers of a thread in %s', (era) => {
  verifies(
    'hub.updates.crowd',
    'are each told of each message, and a hundred of them that do not read hold up nobody',
    async () => {
      const [alice = '', bob = ''] = names('alice', 'bob')
      const { thread } = await as(alice).send(bob, 'zero')
      const uri = threadUri(thread)
      const streams: EventStream[] = []
      for (let n = 0; n < 20; n++)
        streams.push(...(await Promise.all(Array.from({ length: 50 }, () => follow[era](as(bob).endpoint, uri)))))
      await as(alice).send(bob, 'to all', { thread })
      await Promise.all(streams.map((stream) => stream.until(1)))
      const [slow, fast] = [streams.slice(0, 100), streams.slice(100)]
      for (const stream of slow) stream.stall()
      for (let n = 0; n < 5; n++) await as(alice).send(bob, `${n}`, { thread })
      await Promise.all(fast.map((stream) => stream.until(6)))
      expect(fast.filter((stream) => stream.uris().length !== 6)).toEqual([])
      expect(slow.filter((stream) => stream.uris().length !== 1)).toEqual([])
      // Nothing was lost for those who read again.
      for (const stream of slow) stream.resume()
      await Promise.all(slow.map((stream) => stream.until(6)))
      for (const stream of streams) stream.end()
    },
    120_000,
  )
})

describe.each(eras)('The example flow in %s', (era) => {
  verifies('hub.updates.flow', 'goes from discovery to the message that was read', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const a = await connectClient(as(alice).endpoint, era)
    const b = await connectClient(as(bob).endpoint, era)
    // 1: A discovers the tool.
    expect((await a.listTools()).tools.map(({ name }) => name)).toContain('apm2.message.send')
    // B waits for what comes to it.
    const updates: string[] = []
    b.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => void updates.push(uri))
    const self = `apm2://agents/${bob}`
    const watch = async (uri: string) => {
      if (era === '2026-07-28') await b.listen({ resourceSubscriptions: [uri] })
      else await b.subscribeResource({ uri })
    }
    await watch(self)
    // 2 and 3: A sends, the hub appends and tells.
    const send = async (text: string, thread: string) =>
      (await a.callTool({ name: 'apm2.message.send', arguments: { to: bob, text, thread } })).structuredContent as {
        thread: string
        seq: number
      }
    const sent = await send('hello', 'new')
    expect(await send('again', sent.thread)).toMatchObject({ thread: sent.thread, seq: 2 })
    await expect.poll(() => updates).toEqual([self, self])
    // 4: B reads the new messages itself.
    const read = async (uri: string) => {
      const [content] = (await b.readResource({ uri })).contents as { text: string }[]
      return JSON.parse(content?.text ?? '')
    }
    const { threads } = await read(self)
    expect(threads).toMatchObject([{ thread: sent.thread, unread: 2 }])
    const uri = threadUri(sent.thread)
    const { messages, next_cursor } = await read(`${uri}?cursor=1`)
    expect(messages).toMatchObject([{ text: 'again', from: alice }])
    // From now on B follows the thread itself, and reads on from where it was.
    await watch(uri)
    await send('and again', sent.thread)
    await expect.poll(() => updates.toSorted()).toEqual([self, self, self, uri].toSorted())
    expect((await read(`${uri}?cursor=${next_cursor}`)).messages).toMatchObject([{ text: 'and again', seq: 3 }])
  })
})

verifies('hub.sessions.secret', 'a new SECRET_KEY voids every session', async () => {
  const before = await serveHere({ env: { SECRET_KEY: 'the first of two secrets' } })
  const token = await openSession(as('bob', before).endpoint)
  expect(await pingSession(as('bob', before).endpoint, token)).toBe(200)
  await before.stop()
  const after = await serveHere({ env: { SECRET_KEY: 'the second of two secrets' }, storage: before.storage })
  expect(await pingSession(as('bob', after).endpoint, token)).toBe(404)
})
