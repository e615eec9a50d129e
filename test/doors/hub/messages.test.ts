/** Writing at the hub: messages, questions and broadcasts, and what counts as a reply. */
import { describe, expect } from 'vitest'
import { hubDoorOf, type ReplyShape } from '../../support/hub-door.ts'
import { mailbox, shareServer, waitingCalls } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const as = (agent: string) => hubDoorOf(parley(), agent)

let count = 0
/** Agents that nobody else has, so that the tests of this file do not meet. */
const names = (...all: string[]): string[] => {
  count++
  return all.map((name) => `${name}${count}`)
}

async function waits(): Promise<void> {
  while ((await waitingCalls(parley())) === 0);
}

interface Asked {
  message_id: number
  thread: string
  reply: ReplyShape | null
}

interface Broadcast {
  thread: string
  message_id: number
  sent: number
  replies: ReplyShape[]
  missing: string[]
  blocked: { recipient: string; code: string; hint: string }[]
}

describe('A message', () => {
  verifies('hub.send.receipt', 'is answered with its ids, its place and its time', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const sent = await as(alice).send(bob, 'hello')
    expect(sent).toEqual({
      message_id: expect.any(Number),
      thread: String(sent.message_id),
      seq: 1,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      deliveries: [{ recipient: bob, reach: expect.objectContaining({ text: expect.any(String) }) }],
    })
  })

  verifies('hub.send.thread', 'joins the thread it names, and begins one otherwise', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const first = await as(alice).send(bob, 'one', { thread: 'new' })
    expect(await as(bob).send(alice, 'two', { thread: first.thread })).toMatchObject({ thread: first.thread, seq: 2 })
    // The id of a message is a thread by itself, also as a number.
    expect(await as(alice).send(bob, 'three', { thread: first.message_id })).toMatchObject({ seq: 3 })
    expect((await as(bob).send(alice, 'four')).thread).not.toBe(first.thread)
    const answer = await as(bob).send(alice, 'five', { reply_to: first.message_id })
    expect(answer).toMatchObject({ thread: first.thread, seq: 4 })
    const { messages } = await as(alice).thread(first.thread)
    expect(messages.map(({ from, text, reply_to }) => [from, text, reply_to])).toEqual([
      [alice, 'one', null],
      [bob, 'two', null],
      [alice, 'three', null],
      [bob, 'five', first.message_id],
    ])
  })

  verifies('hub.send.retry', 'that is sent again stores nothing and has the first receipt', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const first = await as(alice).send(bob, 'one', { client_message_id: 'once' })
    expect(await as(alice).send(bob, 'other', { client_message_id: 'once' })).toEqual({ ...first, duplicate: true })
    expect((await as(bob).thread(first.thread)).messages).toMatchObject([{ text: 'one' }])
  })

  verifies('hub.send.await', 'waits for its first reply, and has null when time is up', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const waiting = as(alice).send(bob, 'well?', { await_reply_seconds: 20 })
    const mail = await mailbox(parley(), bob).check({ wait_seconds: 20 })
    await mailbox(parley(), bob).send(alice, 'yes', mail?.id)
    const sent = await waiting
    expect(sent.reply).toEqual({
      message_id: expect.any(Number),
      seq: 2,
      from: bob,
      text: 'yes',
      created_at: expect.any(String),
    })
    expect(await as(alice).send(bob, 'and?', { await_reply_seconds: 0 })).toMatchObject({ reply: null })
    await expect(as(alice).send(bob, 'x', { thread: 'never seen' })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
      hint: expect.stringContaining('"new"'),
    })
  })

  verifies(['hub.send.links', 'hub.send.link-schemes'], 'carries links, and no content', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const links = ['https://example.org/plan.pdf', { type: 'resource_link', uri: 'apm2://threads/1', name: 'x' }]
    const { thread, message_id } = await as(alice).send(bob, 'see', { attachments: links })
    expect((await as(bob).thread(thread)).messages[0]?.attachments).toEqual([
      { type: 'resource_link', uri: 'https://example.org/plan.pdf', name: 'plan.pdf' },
      { type: 'resource_link', uri: 'apm2://threads/1', name: '1' },
    ])
    const response = await fetch(`${parley().url}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'resources/read',
        params: { uri: `resource://message/${message_id}?project=commons` },
      }),
    })
    const { result } = (await response.json()) as { result: { contents: { text: string }[] } }
    expect(JSON.parse(result.contents[0]?.text ?? '').attachments[0]).toEqual({
      type: 'link',
      uri: 'https://example.org/plan.pdf',
    })
    for (const good of ['http://example.org', 'HTTPS://example.org/a?b#c', 'resource://message/1', 'apm2://agents/bob'])
      await as(alice).send(bob, 'x', { attachments: [good] })
    const schemes = [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'ftp://a/b',
      'vscode://open',
      'mailto:a@b',
      'blob:https://a',
    ]
    for (const bad of ['data:text/plain,x', 'plan.pdf', 'https://a b', 'https:a', ' https://a', ...schemes])
      for (const link of [bad, { type: 'resource_link', uri: bad, name: 'x' }])
        await expect(as(alice).send(bob, 'x', { attachments: [link] }), bad).rejects.toMatchObject({
          code: 'INVALID_ARGUMENT',
        })
  })
})

describe('A question', () => {
  const ask = (agent: string, args: object) => as(agent).call<Asked>('apm2.message.ask', { ...args })

  verifies(
    'hub.ask.reply',
    'is answered by whoever names it, else by the next word of the one who was asked',
    async () => {
      const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
      // A thread of three, in which another question is open.
      await as(carol).send(carol, 'I am here')
      const { thread, message_id: other } = await as(alice).send(bob, 'begin')
      await as(bob).call('apm2.grant.create', { agent: carol, thread, can: 'write' })
      const asked = await ask(alice, { to: bob, text: 'well?', thread, wait_seconds: 0 })
      expect(asked).toEqual({ message_id: expect.any(Number), thread, reply: null })
      const { message_id } = asked
      await as(carol).send(alice, 'no answer: a third one', { thread })
      await as(bob).send(alice, 'no answer: to another message', { reply_to: other })
      expect(await ask(alice, { message_id, wait_seconds: 0 })).toMatchObject({ reply: null })
      await as(bob).send(alice, 'the answer', { thread })
      expect(await ask(alice, { message_id, wait_seconds: 0 })).toMatchObject({
        reply: { text: 'the answer', from: bob },
      })
      const second = await ask(alice, { to: bob, text: 'and?', thread, wait_seconds: 0 })
      await as(carol).send(alice, 'carol knows', { reply_to: second.message_id })
      expect(await ask(alice, { message_id: second.message_id, wait_seconds: 0 })).toMatchObject({
        reply: { text: 'carol knows' },
      })
    },
  )

  verifies('hub.ask.resumed', 'is waited for again by its id, and sent once', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { message_id, thread } = await ask(alice, { to: bob, text: 'well?', wait_seconds: 0 })
    const waiting = ask(alice, { message_id, wait_seconds: 20 })
    await waits()
    await as(bob).send(alice, 'yes', { thread })
    expect(await waiting).toMatchObject({ message_id, thread, reply: { text: 'yes' } })
    expect((await as(alice).thread(thread)).messages).toHaveLength(2)
    for (const wrong of [{ to: bob }, { text: 'x' }, {}, { message_id, text: 'x' }])
      await expect(ask(alice, wrong)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    // Somebody else's question is none of ours.
    await expect(ask(bob, { message_id })).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
  })
})

verifies('hub.ask.once', 'a question and a broadcast with an id of their own are sent once', async () => {
  const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
  const question = { to: bob, text: 'well?', wait_seconds: 0, client_message_id: `q-${alice}` }
  const asked = await as(alice).call<{ thread: string }>('apm2.message.ask', question)
  await as(bob).send(alice, 'yes', { thread: asked.thread })
  expect(await as(alice).call('apm2.message.ask', question)).toMatchObject({ ...asked, reply: { text: 'yes' } })
  const call = { to: [bob, carol], text: 'ready?', client_message_id: `b-${alice}` }
  const first = await as(alice).call<Broadcast>('apm2.message.broadcast', call)
  await as(carol).send(alice, 'carol is', { thread: String(first.thread) })
  const again = await as(alice).call<Broadcast>('apm2.message.broadcast', call)
  expect(again).toEqual({ ...first, replies: [expect.objectContaining({ from: carol })], missing: [bob] })
  expect((await as(alice).thread(String(first.thread))).messages).toHaveLength(2)
})

verifies('hub.broadcast.at-once', 'a broadcast without a wait answers at once, and leaves out its sender', async () => {
  const [alice = '', bob = ''] = names('alice', 'bob')
  const to = [alice.toUpperCase(), bob, `${alice}@commons`]
  const { sent, missing } = await as(alice).call<Broadcast>('apm2.message.broadcast', { to, text: 'ready?' })
  expect({ sent, missing }).toEqual({ sent: 1, missing: [bob] })
  expect(await waitingCalls(parley())).toBe(0)
  expect(await mailbox(parley(), alice).check()).toBe(null)
  await expect(as(alice).call('apm2.message.broadcast', { to: [alice], text: 'me?' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    hint: expect.stringContaining('other agent'),
  })
})

verifies('hub.broadcast.gathered', 'a broadcast gathers replies in one thread, and names the rest', async () => {
  const [alice = '', bob = '', carol = '', dan = '', eve = ''] = names('alice', 'bob', 'carol', 'dan', 'eve')
  await fetch(`${parley().url}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'register_agent', arguments: { project_key: 'commons', name: eve } },
    }),
  })
  await as(eve).send(eve, 'I am here')
  await fetch(`${parley().url}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'set_contact_policy',
        arguments: { project_key: 'commons', agent_name: eve, policy: 'block_all' },
      },
    }),
  })
  const to = [bob, carol, dan, eve]
  const early = await as(alice).call<Broadcast>('apm2.message.broadcast', { to, text: 'ready?', wait_seconds: 0 })
  expect(early).toEqual({
    thread: String(early.message_id),
    message_id: expect.any(Number),
    sent: 3,
    replies: [],
    missing: [bob, carol, dan],
    blocked: [{ recipient: eve, code: 'CONTACT_BLOCKED', hint: expect.any(String) }],
  })
  const waiting = as(alice).call<Broadcast>('apm2.message.broadcast', {
    to: [bob, carol],
    text: 'now?',
    wait_seconds: 20,
  })
  await waits()
  const threads = async (agent: string) =>
    (await as(agent).read<{ threads: { thread: string }[] }>(`apm2://agents/${agent}`)).threads
  const [{ thread = '' } = {}] = await threads(bob)
  await as(carol).send(alice, 'carol is', { thread })
  await as(carol).send(alice, 'and goes on', { thread })
  await as(bob).send(alice, 'bob is', { thread })
  const { replies, missing, ...rest } = await waiting
  expect(rest).toMatchObject({ thread, sent: 2, blocked: [] })
  expect(missing).toEqual([])
  expect(replies.map(({ from, text }) => [from, text])).toEqual([
    [carol, 'carol is'],
    [bob, 'bob is'],
  ])
})
