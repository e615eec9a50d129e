/** `sync` and `cursor_reset` between two processes: what is received, and where the cursor then stands. */
import { describe, expect } from 'vitest'
import { type Message, shareBus } from '../../support/bus.ts'
import { verifies } from '../../support/verifies.ts'

const bus = shareBus(2)
const [alice, bob] = [() => bus.peer(0), () => bus.peer(1)]

let count = 0
/** A topic of its own in which both take part. */
async function meet(): Promise<string> {
  const name = `topic ${++count}`
  const topic = await alice().join('Alice', name)
  expect(await bob().join('bob', name)).toBe(topic)
  return topic
}

const texts = (received: readonly Message[]) => received.map(({ content_markdown }) => content_markdown)

describe('A sync', () => {
  verifies(
    ['bus.sync.both-ways', 'bus.sync.shape', 'bus.message.columns', 'bus.message.seq', 'bus.times.seconds'],
    'sends and receives in one call, with every field of the answer and of a message',
    async () => {
      const topic = await meet()
      const before = Date.now() / 1000
      const first = await alice().sync(topic, {
        outbox: [
          { content_markdown: 'a question', message_type: 'question', metadata: { deep: { a: [1, null, 'x'] } } },
        ],
      })
      const question = first.sent[0]?.message
      expect(question).toEqual({
        message_id: expect.stringMatching(/^[0-9a-v]{16}$/),
        topic_id: topic,
        seq: 1,
        sender: 'Alice',
        message_type: 'question',
        reply_to: null,
        content_markdown: 'a question',
        metadata: { deep: { a: [1, null, 'x'] } },
        client_message_id: null,
        created_at: expect.any(Number),
      })
      expect(first).toEqual({
        topic_id: topic,
        agent_name: 'Alice',
        topic_status: 'open',
        status: 'empty',
        cursor: { last_seq: 0, updated_at: expect.any(Number) },
        sent: [{ message: question, duplicate: false }],
        received: [],
        received_count: 0,
        has_more: false,
      })
      const answer = { content_markdown: 'an answer', message_type: 'answer', reply_to: question?.message_id }
      const second = await bob().sync(topic, { outbox: [{ ...answer, client_message_id: 'my id' }] })
      expect(second).toMatchObject({
        agent_name: 'bob',
        status: 'ready',
        cursor: { last_seq: 1 },
        sent: [{ message: { seq: 2, sender: 'bob', ...answer, metadata: null, client_message_id: 'my id' } }],
        received: [question],
        received_count: 1,
      })
      expect((await alice().sync(topic)).received).toEqual([second.sent[0]?.message])
      for (const time of [question?.created_at ?? 0, second.cursor.updated_at]) {
        expect(time).toBeGreaterThanOrEqual(before - 0.001)
        expect(time).toBeLessThanOrEqual(Date.now() / 1000)
      }
    },
  )

  verifies('bus.message.columns', 'brings a text as it was written, to the last character', async () => {
    const topic = await meet()
    const text = ' "quoted" \\ \n\t </script> Ünïcödé 漢字 🦜👩‍👩‍👧 \u2028 \u{10FFFF} \u0001 '
    await alice().send(topic, text)
    expect(await bob().read(topic)).toEqual([text])
  })

  verifies(
    ['bus.sync.order', 'bus.sync.advance', 'bus.sync.max-items'],
    'brings what is new in the order of seq, 50 at a time, and each message once',
    async () => {
      const topic = await meet()
      for (let n = 0; n < 3; n++)
        await alice().send(topic, ...Array.from({ length: 40 }, (_, i) => `number ${n * 40 + i}`))
      const pages = []
      for (let page = await bob().sync(topic); page.received_count > 0; page = await bob().sync(topic)) {
        expect(page.status).toBe('ready')
        expect(page.cursor.last_seq).toBe(page.received.at(-1)?.seq)
        pages.push(page)
      }
      expect(pages.map(({ received_count, has_more }) => [received_count, has_more])).toEqual([
        [50, true],
        [50, true],
        [20, false],
      ])
      expect(pages.flatMap(({ received }) => texts(received))).toEqual(
        Array.from({ length: 120 }, (_, n) => `number ${n}`),
      )
    },
  )

  verifies('bus.sync.max-items', 'takes max_items from 1 to 200', async () => {
    const topic = await meet()
    for (let n = 0; n < 5; n++) await alice().send(topic, ...Array.from({ length: 41 }, () => 'x'))
    expect(await bob().sync(topic, { max_items: 1 })).toMatchObject({ received_count: 1, has_more: true })
    expect(await bob().sync(topic, { max_items: 200 })).toMatchObject({ received_count: 200, has_more: true })
    expect(await bob().sync(topic, { max_items: 4 })).toMatchObject({ received_count: 4, has_more: false })
    for (const max_items of [0, -1, 201, 1.5, 'ten'])
      await expect(bob().sync(topic, { max_items })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies('bus.sync.self', 'brings one’s own messages only with include_self, and skips none for it', async () => {
    const topic = await meet()
    await alice().send(topic, 'mine 1', 'mine 2')
    await bob().send(topic, 'yours')
    await alice().send(topic, 'mine 3')
    const without = await alice().sync(topic)
    expect(texts(without.received)).toEqual(['yours'])
    expect(without.cursor.last_seq).toBe(3)
    expect(await alice().sync(topic)).toMatchObject({ status: 'empty', cursor: { last_seq: 3 } })
    expect(texts((await alice().sync(topic, { include_self: true })).received)).toEqual(['mine 3'])
    await alice().call('cursor_reset', { topic_id: topic, last_seq: 0 })
    expect(texts((await alice().sync(topic, { include_self: true })).received)).toEqual([
      'mine 1',
      'mine 2',
      'yours',
      'mine 3',
    ])
  })
})

describe('A cursor', () => {
  verifies('bus.sync.manual', 'stays without auto_advance, until ack_through moves it', async () => {
    const topic = await meet()
    await alice().send(topic, 'one', 'two', 'three')
    const manual = (args = {}) => bob().sync(topic, { auto_advance: false, ...args })
    for (let n = 0; n < 2; n++) {
      const seen = await manual()
      expect(texts(seen.received)).toEqual(['one', 'two', 'three'])
      expect(seen.cursor.last_seq).toBe(0)
    }
    const acked = await manual({ ack_through: 2 })
    expect(acked.cursor.last_seq).toBe(2)
    expect(texts(acked.received)).toEqual(['three'])
    expect(await manual({ ack_through: 3 })).toMatchObject({ status: 'empty', cursor: { last_seq: 3 } })
  })

  verifies('bus.ack.forward', 'moves forward only, and over a message of the same call', async () => {
    const topic = await meet()
    await alice().send(topic, 'one', 'two')
    const manual = (args: object) => bob().sync(topic, { auto_advance: false, ...args })
    await manual({ ack_through: 2 })
    expect(await manual({ ack_through: 1 })).toMatchObject({ cursor: { last_seq: 2 }, received: [] })
    expect(await manual({ ack_through: 0 })).toMatchObject({ cursor: { last_seq: 2 }, received: [] })
    const own = await manual({ ack_through: 3, outbox: [{ content_markdown: 'mine' }] })
    expect(own).toMatchObject({ cursor: { last_seq: 3 }, sent: [{ message: { seq: 3 } }] })
    expect(await bob().sync(topic, { include_self: true })).toMatchObject({ received: [] })
  })

  verifies(['bus.sync.ack-bounds', 'bus.outbox.whole'], 'cannot be acknowledged past the end', async () => {
    const topic = await meet()
    await alice().send(topic, 'one', 'two')
    const manual = (args: object) => bob().sync(topic, { auto_advance: false, ...args })
    await expect(manual({ ack_through: 3 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/at most 2\b.*got 3/),
      hint: expect.stringContaining('ack_through'),
    })
    await expect(manual({ ack_through: 4, outbox: [{ content_markdown: 'x' }] })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    await expect(manual({ ack_through: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await manual({})).toMatchObject({ cursor: { last_seq: 0 }, received: [{ seq: 1 }, { seq: 2 }] })
    // Refused messages took no seq.
    expect((await bob().send(topic, 'now'))[0]?.seq).toBe(3)
  })

  verifies('bus.ack.alone', 'is not both advanced and acknowledged', async () => {
    const topic = await meet()
    for (const args of [{ ack_through: 0 }, { ack_through: 0, auto_advance: true }])
      await expect(bob().sync(topic, args)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('auto_advance: false'),
      })
  })

  verifies('bus.cursor.reset', 'is set back to read again and forward to skip, within the topic', async () => {
    const topic = await meet()
    await alice().send(topic, 'one', 'two', 'three')
    const reset = (last_seq: unknown) => bob().call('cursor_reset', { topic_id: topic, last_seq })
    expect(await reset(2)).toEqual({
      topic_id: topic,
      agent_name: 'bob',
      cursor: { last_seq: 2, updated_at: expect.any(Number) },
    })
    expect(await bob().read(topic)).toEqual(['three'])
    await reset(0)
    expect(await bob().read(topic)).toEqual(['one', 'two', 'three'])
    await reset(1)
    await expect(reset(4)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('3') })
    for (const bad of [-1, 1.5, 'one', undefined])
      await expect(reset(bad), String(bad)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await bob().read(topic)).toEqual(['two', 'three'])
  })

  verifies('bus.cursor.durable', 'is each peer’s own, also for one who joins late', async () => {
    const topic = await meet()
    await alice().send(topic, 'one', 'two')
    expect(await bob().read(topic)).toEqual(['one', 'two'])
    await bob().call('topic_join', { agent_name: `late ${count}`, topic_id: topic })
    expect(await bob().read(topic)).toEqual(['one', 'two'])
    await bob().call('topic_join', { agent_name: 'bob', topic_id: topic })
    expect(await bob().read(topic)).toEqual([])
  })
})
