/** A `sync` that waits: what ends it, and that it changes nothing while it does. */
import { describe, expect } from 'vitest'
import { httpPeer, look, type Peer, type Sync, shareBus, startBus, waiting } from '../../support/bus.ts'
import { eras, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

describe('A sync that waits', () => {
  const env = { MAX_WAIT_SECONDS: '20' }
  const bus = shareBus(2, { era: eras[1], env })
  const [alice, bob] = [() => bus.peer(0), () => bus.peer(1)]

  let count = 0
  async function meet(who: Peer = bob(), agent = 'bob'): Promise<string> {
    const name = `topic ${++count}`
    await who.join(agent, name)
    return alice().join('alice', name)
  }

  /** Bob waits; resolves once he really does. */
  async function wait(topic: string, args: object = {}): Promise<{ answer: Promise<Sync> }> {
    const answer = bob().sync(topic, { wait_seconds: 20, ...args })
    answer.catch(() => {})
    await expect.poll(() => waiting(bus.storage(), topic)).toEqual(['bob'])
    return { answer }
  }

  verifies(
    ['bus.sync.wait', 'bus.sync.status', 'bus.processes.mixed'],
    'returns as soon as another process sends, with what it sent',
    async () => {
      const topic = await meet()
      for (let n = 0; n < 5; n++) {
        const { answer } = await wait(topic)
        const began = performance.now()
        await alice().send(topic, `number ${n}`)
        const { status, received, cursor } = await answer
        expect({ status, texts: received.map(({ content_markdown }) => content_markdown) }).toEqual({
          status: 'ready',
          texts: [`number ${n}`],
        })
        expect(cursor.last_seq).toBe(n + 1)
        // Far from the deadline; how fast it is, the bench tells.
        expect(performance.now() - began).toBeLessThan(10_000)
      }
    },
  )

  verifies('bus.sync.wait', 'is not ended by its own messages, unless it asks for them', async () => {
    const topic = await meet()
    const { answer } = await wait(topic, { outbox: [{ content_markdown: 'to myself' }] })
    await bob().send(topic, 'to myself, too')
    await alice().send(topic, 'from another')
    expect(await answer).toMatchObject({ sent: [{ message: { seq: 1 } }], received: [{ seq: 3 }], received_count: 1 })
    const own = await bob().sync(topic, {
      wait_seconds: 20,
      include_self: true,
      outbox: [{ content_markdown: 'mine' }],
    })
    expect(own).toMatchObject({ status: 'ready', received: [{ content_markdown: 'mine' }] })
  })

  verifies(
    ['bus.sync.status', 'bus.wait.untouched'],
    'ends with timeout when its time is up; with wait_seconds 0 it is empty at once',
    async () => {
      const topic = await meet()
      const before = await bob().sync(topic)
      expect(before).toMatchObject({ status: 'empty', received: [] })
      const began = performance.now()
      const after = await bob().sync(topic, { wait_seconds: 0.3 })
      expect(performance.now() - began).toBeGreaterThanOrEqual(290)
      expect(after).toMatchObject({ status: 'timeout', received: [], received_count: 0, topic_status: 'open' })
      expect(after.cursor.last_seq).toBe(before.cursor.last_seq)
    },
  )

  verifies('bus.wait.untouched', 'writes nothing while it waits', async () => {
    const topic = await meet()
    const { answer } = await wait(topic, { wait_seconds: 1.2 })
    const all = () => ['cursors', 'name_holders', 'joins'].map((table) => look(bus.storage(), `SELECT * FROM ${table}`))
    const changes = () => look(bus.storage(), 'SELECT MAX(id) AS id FROM changes')
    const [rows, last] = [all(), changes()]
    // A hint that is of no interest to it, while it waits.
    await alice().call('topic_create', { name: `other than ${topic}` })
    expect(await answer).toMatchObject({ status: 'timeout' })
    expect(all()).toEqual(rows)
    expect(look(bus.storage(), 'SELECT MAX(id) - 1 AS id FROM changes')).toEqual(last)
  })

  verifies('bus.wait.closed', 'ends at once when the topic is closed: empty, and nothing moved', async () => {
    const topic = await meet()
    await alice().send(topic, 'read before')
    await bob().read(topic)
    const { answer } = await wait(topic)
    await alice().call('topic_close', { topic_id: topic })
    expect(await answer).toMatchObject({
      status: 'empty',
      topic_status: 'closed',
      received: [],
      cursor: { last_seq: 1 },
    })
  })

  // How a call is cancelled is the one thing here in which the eras differ.
  for (const era of eras)
    verifies(
      'bus.wait.untouched',
      `that is cancelled moves no cursor, and takes no message with it (${era})`,
      async () => {
        const carol = era === eras[1] ? bob() : await startBus({ storage: bus.storage(), era, env })
        const name = era === eras[1] ? 'bob' : 'carol'
        const topic = await meet(carol, name)
        await alice().send(topic, 'read before')
        await carol.read(topic)
        for (let n = 0; n < 5; n++) {
          const stop = new AbortController()
          const answer = carol.sync(topic, { wait_seconds: 20 }, stop.signal)
          answer.catch(() => {})
          await expect.poll(() => waiting(bus.storage(), topic)).toEqual([name])
          // Once at leisure, then while the message is on its way.
          if (n === 0) stop.abort()
          const sent = alice().send(topic, `number ${n}`)
          if (n > 0) stop.abort()
          await expect(answer).rejects.toThrow()
          await sent
          expect(await carol.read(topic)).toEqual([`number ${n}`])
        }
      },
    )

  verifies('bus.wait.untouched', 'learns of what became unread again', async () => {
    const topic = await meet()
    await alice().send(topic, 'read before')
    await bob().read(topic)
    const { answer } = await wait(topic)
    const began = performance.now()
    await bob().call('cursor_reset', { topic_id: topic, last_seq: 0 })
    expect(await answer).toMatchObject({ status: 'ready', received: [{ content_markdown: 'read before' }] })
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  verifies('bus.name.in-use', 'is told when its name was taken over, and takes nothing', async () => {
    const topic = await meet()
    const agent_name = 'heir'
    const { reclaim_token } = await bob().call('topic_join', { agent_name, topic_id: topic })
    // Awaited later, expected from now on: it may come before the sender has its own answer.
    const told = expect(bob().sync(topic, { wait_seconds: 20 })).rejects.toMatchObject({ code: 'AGENT_NOT_JOINED' })
    await expect.poll(() => waiting(bus.storage(), topic)).toEqual([agent_name])
    const other = await meet()
    await alice().call('topic_join', { agent_name, topic_id: other, reclaim_token })
    await alice().send(topic, 'for the heir')
    await told
    await alice().call('topic_join', { agent_name, topic_id: topic })
    expect(await alice().read(topic)).toEqual(['for the heir'])
  })
})

describe('The longest wait', () => {
  const parley = shareServer({ env: { MAX_WAIT_SECONDS: '0.4' } })

  verifies('bus.wait.cut', 'is MAX_WAIT_SECONDS, whatever is asked for and by default', async () => {
    const alice = httpPeer(parley(), '?agent=alice')
    const topic = await alice.join('alice', 'patience')
    for (const args of [{}, { wait_seconds: 1e9 }]) {
      const began = performance.now()
      expect(await alice.call('sync', { topic_id: topic, ...args })).toMatchObject({ status: 'timeout' })
      expect(performance.now() - began).toBeGreaterThanOrEqual(390)
      expect(performance.now() - began).toBeLessThan(10_000)
    }
    for (const wait_seconds of [-1, 'long'])
      await expect(alice.sync(topic, { wait_seconds })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
