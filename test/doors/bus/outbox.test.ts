/** The outbox of a `sync`: how it may be written, what is refused, and that it is all or nothing. */
import { describe, expect } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { syncTools } from '../../../src/doors/bus/tools/sync.ts'
import { readArguments } from '../../../src/doors/mcp/args.ts'
import { shareBus } from '../../support/bus.ts'
import { verifies } from '../../support/verifies.ts'

const bus = shareBus(2)
const [alice, bob] = [() => bus.peer(0), () => bus.peer(1)]

let count = 0
async function meet(): Promise<string> {
  const name = `topic ${++count}`
  await bob().join('bob', name)
  return alice().join('alice', name)
}

const item = (content_markdown: string, more: object = {}) => ({ content_markdown, ...more })

/** Where alice and the topic stand: the outbox that is refused must change nothing of it. */
const standing = async (topic: string) => {
  const { cursor, received } = await alice().sync(topic, { auto_advance: false, include_self: true })
  return { last: cursor.last_seq, seqs: received.map(({ seq }) => seq) }
}

const refuse = async (topic: string, outbox: unknown, code = 'INVALID_ARGUMENT') => {
  const before = await standing(topic)
  const refused = alice()
    .sync(topic, { outbox })
    .then(
      () => 'sent',
      (error: { code: string; message: string; hint: string }) => error,
    )
  const error = await refused
  expect(error, JSON.stringify(outbox)?.slice(0, 200)).toMatchObject({ code, hint: expect.any(String) })
  expect(await standing(topic)).toEqual(before)
  return error as { message: string }
}

describe('An outbox', () => {
  verifies(
    ['all.size.parts', 'bus.outbox.whole'],
    'of too many messages is refused unseen, in either form',
    async () => {
      const topic = await meet()
      const { message } = await refuse(topic, Array(60_000).fill({}))
      expect(message).toBe('Argument "outbox" must have at most 50 items; it has 60000.')
      expect((await refuse(topic, JSON.stringify(Array(60_000).fill({})))).message).toBe(message)
      // None of the items is looked at.
      const unseen = {
        get content_markdown(): string {
          throw new Error('it was looked at')
        },
      }
      const [sync] = syncTools({} as Hub)
      expect(() => readArguments(sync as never, { topic_id: 'x', outbox: Array(51).fill(unseen) })).toThrow('it has 51')
    },
  )

  verifies('bus.outbox.forms', 'may be a list, one object, or either as JSON in a string', async () => {
    const topic = await meet()
    for (const outbox of [
      [item('list')],
      item('object'),
      JSON.stringify([item('list as text')]),
      JSON.stringify(item('object as text')),
      null,
      [],
      '[]',
    ])
      await alice().sync(topic, { outbox })
    expect(await bob().read(topic)).toEqual(['list', 'object', 'list as text', 'object as text'])
  })

  verifies('bus.outbox.forms', 'of any other form is refused in words that tell the right one', async () => {
    const topic = await meet()
    expect((await refuse(topic, 'hello')).message).toMatch(/outbox.*JSON/)
    for (const outbox of ['', '"text"', 'null', 7, ['text'], [null], [[item('x')]], { content: 'x' }, [{}]])
      await refuse(topic, outbox)
    expect((await refuse(topic, [item('x', { content: 'y' })])).message).toContain('"content"')
    const { tools } = await alice().client.listTools()
    expect(tools.find(({ name }) => name === 'sync')?.inputSchema.properties?.outbox).toMatchObject({
      type: 'array',
      items: { type: 'object', required: ['content_markdown'] },
    })
  })

  verifies('bus.outbox.whole', 'has at most 50 messages', async () => {
    const topic = await meet()
    const many = (n: number) => Array.from({ length: n }, (_, i) => item(`${i}`))
    await refuse(topic, many(51))
    expect((await alice().sync(topic, { outbox: many(50) })).sent.map(({ message }) => message.seq)).toEqual(
      Array.from({ length: 50 }, (_, i) => i + 1),
    )
  })

  verifies(
    ['bus.outbox.whole', 'bus.sync.atomic', 'bus.message.seq', 'bus.outbox.reply'],
    'is sent whole or not at all, and what was refused leaves no gap and no acknowledgement',
    async () => {
      const topic = await meet()
      const elsewhere = await alice().join('alice', `elsewhere ${count}`)
      const [foreign] = await alice().send(elsewhere, 'of another topic')
      await bob().send(topic, 'unread')
      for (const wrong of [
        item(''),
        item('x', { reply_to: 'no-such-message' }),
        item('x', { reply_to: foreign?.message_id }),
      ])
        await refuse(topic, [item('good'), wrong, item('good too')])
      const last = { outbox: [item('good'), item('x', { reply_to: 'nobody' })], auto_advance: false, ack_through: 1 }
      await expect(alice().sync(topic, last)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('"nobody"'),
        hint: expect.stringContaining('reply_to'),
      })
      expect((await alice().sync(topic)).received).toMatchObject([{ content_markdown: 'unread' }])
      expect((await alice().send(topic, 'at last'))[0]?.seq).toBe(2)
    },
  )

  verifies(
    'bus.outbox.duplicate',
    'with a client_message_id that was used returns the original, and takes no seq',
    async () => {
      const topic = await meet()
      const first = await alice().sync(topic, { outbox: [item('first', { client_message_id: 'x' })] })
      const again = await alice().sync(topic, {
        outbox: [item('other words', { client_message_id: 'x', message_type: 'event' }), item('new')],
      })
      expect(again.sent[0]).toEqual({ message: first.sent[0]?.message, duplicate: true })
      expect(again.sent[1]).toMatchObject({ message: { seq: 2 }, duplicate: false })
      // Twice in one call is once, too; another sender and another topic have ids of their own.
      const twice = await alice().sync(topic, {
        outbox: [item('a', { client_message_id: 'y' }), item('b', { client_message_id: 'y' })],
      })
      expect(twice.sent.map(({ message, duplicate }) => [message.seq, message.content_markdown, duplicate])).toEqual([
        [3, 'a', false],
        [3, 'a', true],
      ])
      const theirs = await bob().sync(topic, { outbox: [item('mine', { client_message_id: 'x' })] })
      expect(theirs.sent).toMatchObject([{ message: { seq: 4 }, duplicate: false }])
      const other = await meet()
      const there = await alice().sync(other, { outbox: [item('there', { client_message_id: 'x' })] })
      expect(there.sent).toMatchObject([{ message: { seq: 1 }, duplicate: false }])
      expect((await alice().sync(topic, { auto_advance: false, include_self: true })).received).toHaveLength(4)
    },
  )

  verifies('bus.outbox.duplicate', 'whose answer was lost is sent once, however often it is tried', async () => {
    const topic = await meet()
    const outbox = [item('once', { client_message_id: 'x' })]
    const tries = await Promise.all(Array.from({ length: 20 }, () => alice().sync(topic, { outbox })))
    expect(tries.filter(({ sent }) => sent[0]?.duplicate === false)).toHaveLength(1)
    expect(await bob().read(topic)).toEqual(['once'])
  })

  verifies('bus.errors.closed', 'is refused on a closed topic, which can still be read', async () => {
    const topic = await meet()
    await alice().sync(topic, { outbox: [item('before', { client_message_id: 'x' })] })
    await bob().call('topic_close', { topic_id: topic })
    await refuse(topic, [item('too late')], 'TOPIC_CLOSED')
    // A retry of what is stored already writes nothing.
    const retry = await alice().sync(topic, { outbox: [item('before', { client_message_id: 'x' })] })
    expect(retry.sent).toMatchObject([{ duplicate: true, message: { seq: 1 } }])
    expect(await bob().sync(topic)).toMatchObject({ topic_status: 'closed', status: 'ready', received_count: 1 })
    // Nobody waits for what cannot come: with the default wait this would take 50 s.
    expect(await bob().call('sync', { topic_id: topic })).toMatchObject({ topic_status: 'closed', status: 'empty' })
    await bob().call('topic_reopen', { topic_id: topic })
    expect((await alice().send(topic, 'open again'))[0]?.seq).toBe(2)
  })
})

describe('A message', () => {
  verifies('bus.sizes.limits', 'has at most 65,536 characters, a type of 32, an id of 128', async () => {
    const topic = await meet()
    const longest = { message_type: 't'.repeat(32), client_message_id: 'i'.repeat(128) }
    const body = `${'漢'.repeat(65_534)}🦜`
    const { sent } = await alice().sync(topic, { outbox: [item(body, longest)] })
    expect(sent[0]?.message).toMatchObject({ content_markdown: body, ...longest })
    expect(await bob().read(topic)).toEqual([body])
    expect((await refuse(topic, [item(`${body}x`)])).message).toContain('65537')
    for (const more of [
      { message_type: 't'.repeat(33) },
      { message_type: '' },
      { client_message_id: 'i'.repeat(129) },
      { client_message_id: ' ' },
      { reply_to: 5 },
      { metadata: 'text' },
      { metadata: [1] },
    ])
      await refuse(topic, [item('x', more)])
    for (const text of ['', 'nul \0', 'half \ud800']) await refuse(topic, [item(text)])
  })

  verifies(
    'bus.message.columns',
    'has the type "message" unless it says otherwise, and takes null for nothing',
    async () => {
      const topic = await meet()
      const nothing = { message_type: null, reply_to: null, metadata: null, client_message_id: null }
      const { sent } = await alice().sync(topic, { outbox: [item('plain'), item('nulls', nothing)] })
      for (const { message } of sent) expect(message).toMatchObject({ ...nothing, message_type: 'message' })
    },
  )
})
