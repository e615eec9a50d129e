/** Reading at the hub: threads, agents, attachments, grants; and who may. */
import { describe, expect } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { hubDoor } from '../../../src/doors/hub/door.ts'
import { lintDoor } from '../../support/door-lint.ts'
import { hubDoorOf, type ThreadShape, threadUri } from '../../support/hub-door.ts'
import {
  bareEnv,
  callTool,
  connectClient,
  eras,
  mailbox,
  runParley,
  serveHere,
  share,
  waitingCalls,
} from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const bearer = { Authorization: 'Bearer the-operators-token' }
const parley = share((later) => serveHere({ env: { HTTP_BEARER_TOKEN: 'the-operators-token' }, later }))
const as = (agent: string | undefined, headers?: Record<string, string>) =>
  hubDoorOf(parley(), agent, headers === undefined ? {} : { headers })

let count = 0
const names = (...all: string[]): string[] => {
  count++
  return all.map((name) => `${name}${count}`)
}

const mail = async (tool: string, args: Record<string, unknown>) =>
  (await callTool(`${parley().url}/mcp`, tool, { project_key: 'commons', ...args })).structuredContent as Record<
    string,
    unknown
  >

const bus = async (agent: string, tool: string, args: Record<string, unknown>) =>
  (await callTool(`${parley().url}/bus/mcp?agent=${agent}`, tool, args)).structuredContent as Record<string, unknown>

const missing = { code: 'THREAD_NOT_FOUND' }

describe('A thread', () => {
  verifies('hub.thread.shape', 'is read oldest first, a page at a time, by tool and by resource', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'first line\nmore')
    for (const text of ['two', 'three']) await as(bob).send(alice, text, { thread })
    const page = await as(bob).thread(thread, { limit: 2 })
    expect(page).toEqual({
      thread,
      subject: 'first line',
      status: 'open',
      participants: [alice, bob],
      messages: [
        {
          message_id: Number(thread),
          seq: 1,
          from: alice,
          trust: 'project',
          text: 'first line\nmore',
          reply_to: null,
          created_at: expect.any(String),
          attachments: [],
        },
        expect.objectContaining({ seq: 2, from: bob, text: 'two' }),
      ],
      next_cursor: '2',
      has_more: true,
    })
    const rest = await as(bob).read<ThreadShape>(`${threadUri(thread)}?cursor=${page.next_cursor}&limit=2`)
    expect(rest).toMatchObject({ messages: [{ seq: 3 }], next_cursor: '3', has_more: false })
    expect(await as(bob).read(`${threadUri(thread)}?cursor=3`)).toMatchObject({ messages: [], next_cursor: '3' })
    for (const limit of [0, 201])
      await expect(as(bob).thread(thread, { limit })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies('hub.thread.wait', 'is waited for, and the wait ends with the next message or empty', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'one')
    const waiting = as(bob).thread(thread, { cursor: '1', wait_seconds: 20 })
    while ((await waitingCalls(parley())) === 0);
    await as(alice).send(bob, 'two', { thread })
    expect(await waiting).toMatchObject({ messages: [{ text: 'two' }] })
    expect(await as(bob).thread(thread, { cursor: '2', wait_seconds: 0.01 })).toMatchObject({ messages: [] })
  })

  verifies(
    'hub.thread.own',
    'shows an agent what it wrote and what came to it, and nothing between others',
    async () => {
      const [alice = '', bob = '', mallory = ''] = names('alice', 'bob', 'mallory')
      for (const name of [alice, bob, mallory]) await mailbox(parley(), name).check()
      const thread_id = `T-${alice}`
      const letter = (sender_name: string, to: string, body_md: string) =>
        mail('send_message', { sender_name, to: [to], subject: 'plan', body_md, thread_id })
      await letter(alice, bob, 'secret')
      await expect(as(mallory).thread(thread_id)).rejects.toMatchObject(missing)
      // The mail door lets anybody of a project write under a thread's name: that opens nothing.
      await letter(mallory, mallory, 'let me in')
      expect((await as(mallory).thread(thread_id)).messages).toMatchObject([{ text: 'let me in' }])
      expect((await as(mallory).thread(thread_id)).participants).toEqual([mallory])
      expect((await as(bob).thread(thread_id)).messages).toMatchObject([{ text: 'secret' }])
    },
  )

  verifies('hub.thread.foreign', 'that is foreign answers as a missing one, to whoever guesses its id', async () => {
    const [alice = '', bob = '', mallory = ''] = names('alice', 'bob', 'mallory')
    const { thread, message_id } = await as(alice).send(bob, 'secret')
    await as(mallory).send(mallory, 'I am here')
    const outcomes = async (id: string, reply_to: number) => {
      const tries = [
        as(mallory).thread(id),
        as(mallory).read(threadUri(id)),
        as(mallory).read(`${threadUri(id)}/attachments/${message_id}-0`),
        as(mallory).send(alice, 'x', { thread: id }),
        as(mallory).send(alice, 'x', { reply_to }),
        as(mallory).call('apm2.message.ask', { message_id: reply_to }),
        as(mallory).call('apm2.grant.create', { agent: mallory, thread: id, can: 'write' }),
      ]
      return Promise.all(
        tries.map((one) =>
          one.then(
            () => 'answered',
            (error) => JSON.parse(JSON.stringify(error).replaceAll(id, 'ID').replaceAll(String(reply_to), 'ID')),
          ),
        ),
      )
    }
    const foreign = await outcomes(thread, message_id)
    expect(foreign).toEqual(await outcomes('99999999', 99_999_999))
    expect(foreign).not.toContain('answered')
  })

  verifies(
    'hub.thread.names',
    'goes by the id of a topic, the key of mail, or the id of its first message',
    async () => {
      const [alice = '', bob = ''] = names('alice', 'bob')
      const { topic_id } = await bus(alice, 'topic_create', { name: `plans of ${alice}` })
      await bus(alice, 'topic_join', { agent_name: alice, topic_id })
      await bus(alice, 'sync', { topic_id, outbox: [{ content_markdown: 'said here' }], wait_seconds: 0 })
      expect(await as(alice).thread(String(topic_id))).toMatchObject({
        thread: topic_id,
        subject: `plans of ${alice}`,
        participants: [alice],
        messages: [{ text: 'said here', from: alice }],
      })
      // An agent that has not joined takes no part.
      await expect(as(bob).thread(String(topic_id))).rejects.toMatchObject(missing)
      for (const name of [alice, bob]) await mailbox(parley(), name).check()
      const thread_id = `FEAT ${alice}`
      await mail('send_message', { sender_name: alice, to: [bob], subject: 'plan', body_md: 'keyed', thread_id })
      expect(await as(bob).read(threadUri(thread_id))).toMatchObject({ thread: thread_id, subject: 'plan' })
    },
  )

  verifies('hub.thread.parts', 'has long texts in parts that join to the whole', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const text = `a${'😀'.repeat(150_000)}`
    const { thread } = await as(alice).send(bob, text)
    let whole = ''
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const uri: string = `${threadUri(thread)}?cursor=0&limit=1&offset=${offset}`
      const { messages }: ThreadShape = await as(bob).read(uri)
      const part = messages[0]?.text ?? ''
      expect(part.length).toBeLessThanOrEqual(262_144)
      expect(part.isWellFormed()).toBe(true)
      whole += part
      offset = messages[0]?.next_offset
    }
    expect(whole === text).toBe(true)
  })

  verifies('hub.thread.attachments', 'links to stored attachments, which its readers read', async () => {
    const [alice = '', bob = '', mallory = ''] = names('alice', 'bob', 'mallory')
    for (const name of [alice, bob, mallory]) await mailbox(parley(), name).check()
    const long = 'é'.repeat(300_000)
    const attachment_paths = [
      `data:text/plain;base64,${Buffer.from(long).toString('base64')}`,
      `data:application/zip;base64,${Buffer.from([80, 75, 3, 4, 255]).toString('base64')}`,
    ]
    const { message_id } = await mail('send_message', {
      sender_name: alice,
      to: [bob],
      subject: 'files',
      body_md: 'see',
      attachment_paths,
    })
    const links = (await as(bob).thread(String(message_id))).messages[0]?.attachments as {
      uri: string
      mimeType: string
    }[]
    expect(links).toMatchObject([
      { type: 'resource_link', mimeType: 'text/plain', size: 600_000 },
      { type: 'resource_link', size: 5 },
    ])
    const [text, zip] = links.map(({ uri }) => uri)
    const first = await as(bob).content(text ?? '')
    const rest = await as(bob).content(`${text}?offset=${first._meta?.next_offset}`)
    expect(`${first.text}${rest.text}` === long).toBe(true)
    expect(await as(bob).content(zip ?? '')).toMatchObject({
      blob: Buffer.from([80, 75, 3, 4, 255]).toString('base64'),
    })
    await expect(as(mallory).content(zip ?? '')).rejects.toMatchObject(missing)
  })
})

describe('Agents', () => {
  verifies('hub.agents.listed', 'are listed by name, a page at a time, with whether they can be reached', async () => {
    const project = '/srv/listed'
    const door = hubDoorOf(parley(), 'anna', { project })
    await door.send('bert', 'hello')
    await door.send('carla', 'hello')
    await callTool(`${parley().url}/mcp`, 'set_contact_policy', {
      project_key: project,
      agent_name: 'carla',
      policy: 'block_all',
    })
    const page = await door.call<{ next_cursor: string }>('apm2.agents.list', { limit: 1 })
    const anna = { name: 'anna', status: 'active', reachable: true, last_active_at: expect.any(String) }
    expect(page).toEqual({ agents: [anna], next_cursor: 'anna', has_more: true })
    expect(await door.call('apm2.agents.list', { cursor: page.next_cursor })).toMatchObject({
      agents: [
        { name: 'bert', status: 'unseen', reachable: true, last_active_at: null },
        { name: 'carla', reachable: false },
      ],
      next_cursor: null,
      has_more: false,
    })
    expect(await door.read('apm2://agents/bert')).toEqual({
      name: 'bert',
      status: 'unseen',
      reachable: true,
      last_active_at: null,
    })
    expect(await door.read('apm2://agents')).toMatchObject({ agents: { length: 3 }, has_more: false })
    await expect(door.read('apm2://agents/nobody')).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
  })

  verifies('hub.agents.paged', 'are read on from the cursor that the resource gave', async () => {
    const project = '/srv/paged'
    const door = hubDoorOf(parley(), 'anna', { project })
    for (const name of ['bert', 'carla']) await door.send(name, 'hello')
    const all: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page = await door.read<{ agents: { name: string }[]; next_cursor: string | null }>(
        `apm2://agents?limit=1${at}`,
      )
      all.push(...page.agents.map(({ name }) => name))
      cursor = page.next_cursor
    }
    expect(all).toEqual(['anna', 'bert', 'carla'])
    await expect(door.read('apm2://agents?limit=0')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(door.read('apm2://agents?page=2')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies('hub.agents.self', 'see their own threads, and how much is unread', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'one')
    for (const text of ['two', 'three']) await as(alice).send(bob, text, { thread })
    const other = await as(bob).send(alice, 'of mine')
    const own = async () => (await as(bob).read<{ threads: unknown[] }>(`apm2://agents/${bob}`)).threads
    expect(await own()).toEqual([
      { thread: other.thread, subject: 'of mine', last_seq: 1, unread: 0 },
      { thread, subject: 'one', last_seq: 3, unread: 3 },
    ])
    await as(bob).thread(thread, { limit: 2 })
    expect((await own())[1]).toMatchObject({ unread: 1 })
    await as(bob).read(`${threadUri(thread)}?cursor=2`)
    // Reading from the beginning again makes nothing unread.
    await as(bob).thread(thread, { limit: 1 })
    expect((await own())[1]).toMatchObject({ unread: 0 })
    expect(await as(bob).read(`apm2://agents/${bob}?limit=1`)).toMatchObject({ has_more: true })
    expect(await as(bob).read(`apm2://agents/${bob}?limit=1&cursor=${other.message_id}`)).toMatchObject({
      threads: [{ thread }],
    })
    expect(await as(bob).read(`apm2://agents/${alice}`)).not.toHaveProperty('threads')
  })

  verifies('hub.caller.url', 'are who their key says, else who the URL says, else nobody', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'one')
    await expect(as(undefined).thread(thread)).rejects.toMatchObject(missing)
    await expect(as(undefined).send(bob, 'x')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('?agent='),
    })
    expect(await as(undefined).call('apm2.agents.list')).toHaveProperty('agents')
    const { code, stdout } = await runParley(['keys', 'create', bob], bareEnv(parley().storage))
    expect(code).toBe(0)
    const key = { 'X-API-Key': /amb_[0-9a-f]{64}/.exec(stdout)?.[0] ?? '' }
    expect((await as(undefined, key).thread(thread)).messages).toHaveLength(1)
    expect((await as(bob, key).thread(thread)).messages).toHaveLength(1)
    await expect(as(alice, key).thread(thread)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect
      .poll(() =>
        as(bob)
          .thread(thread)
          .then(
            () => 'read',
            (error) => error.code,
          ),
      )
      .toBe('FORBIDDEN')
    const response = await fetch(`${parley().url}/hub/mcp?agent=a%20b`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    })
    expect(response.status).toBe(400)
  })

  verifies('hub.caller.operator', 'and the operator sees every thread', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'one')
    expect((await as(undefined, bearer).thread(thread)).messages).toHaveLength(1)
  })
})

describe('A grant', () => {
  interface Granted {
    grant_id: string
    expires_at: string
  }
  const grant = (agent: string, args: object) => as(agent).call<Granted>('apm2.grant.create', { ...args })

  verifies('hub.grant.own-view', 'shows what the granter sees, until it is taken back or its time is up', async () => {
    const [alice = '', bob = '', carol = '', dan = ''] = names('alice', 'bob', 'carol', 'dan')
    for (const name of [alice, bob, carol, dan]) await mailbox(parley(), name).check()
    const thread = `T-${alice}`
    const letter = (sender_name: string, to: string, body_md: string) =>
      mail('send_message', { sender_name, to: [to], subject: 'plan', body_md, thread_id: thread })
    await letter(alice, bob, 'between us')
    await letter(dan, dan, 'a note of dan')
    const { grant_id, expires_at } = await grant(alice, { agent: carol, thread, can: 'read', ttl_seconds: 60 })
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now())
    expect((await as(carol).thread(thread)).messages).toMatchObject([{ text: 'between us' }])
    const listed = { grant_id, agent: carol, thread, can: 'read', granted_by: alice, expires_at }
    for (const name of [alice, carol])
      expect(await as(name).call('apm2.grant.list')).toEqual({
        grants: [{ ...listed, created_at: expect.any(String) }],
        next_cursor: null,
        has_more: false,
      })
    expect(await as(bob).call('apm2.grant.list')).toMatchObject({ grants: [] })
    // Only participants grant, and only who gave takes back.
    await expect(grant(carol, { agent: dan, thread })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(as(carol).call('apm2.grant.revoke', { grant_id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await as(alice).call('apm2.grant.revoke', { grant_id })).toEqual({ grant_id, revoked: true })
    await expect(as(carol).thread(thread)).rejects.toMatchObject(missing)
    await expect(as(alice).call('apm2.grant.revoke', { grant_id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  verifies('all.lists.onwards', 'is on one page of the list, the newest first', async () => {
    const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
    await mailbox(parley(), carol).check()
    const { thread } = await as(alice).send(bob, 'between us')
    const given: string[] = []
    for (const can of ['read', 'write', 'read'])
      given.unshift((await grant(alice, { agent: carol, thread, can })).grant_id)
    const list = (args: Record<string, unknown>) =>
      as(alice).call<{ grants: { grant_id: string }[]; next_cursor: string | null; has_more: boolean }>(
        'apm2.grant.list',
        args,
      )
    const first = await list({ limit: 2 })
    expect(first).toMatchObject({ has_more: true, next_cursor: expect.any(String) })
    const rest = await list({ limit: 2, cursor: first.next_cursor })
    expect(rest).toMatchObject({ has_more: false, next_cursor: null })
    expect([...first.grants, ...rest.grants].map(({ grant_id }) => grant_id)).toEqual(given)
    await expect(list({ cursor: 'elsewhere' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies('hub.grant.write', 'to write lets an agent send into the thread, one to read does not', async () => {
    const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
    const { thread } = await as(alice).send(bob, 'one')
    await as(carol).send(carol, 'I am here')
    await grant(alice, { agent: carol, thread, can: 'read' })
    await expect(as(carol).send(bob, 'x', { thread })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await grant(alice, { agent: carol, thread, can: 'write' })
    expect(await as(carol).send(bob, 'two', { thread })).toMatchObject({ thread, seq: 2 })
  })
})

verifies('all.schema.flat', 'the tools of the hub are advertised flat, and have short descriptions', () => {
  expect(lintDoor(hubDoor({} as Hub))).toEqual([])
})

describe.each(eras)('With the official client of %s', (era) => {
  verifies('hub.resources.listed', 'resources and templates are listed, and ids completed', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { thread } = await as(alice).send(bob, 'the plan')
    const client = await connectClient(as(bob).endpoint, era)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['apm2://agents', threadUri(thread)])
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'apm2://agents{?cursor,limit}',
      'apm2://agents/{agentId}{?cursor,limit}',
      'apm2://threads/{threadId}{?cursor,limit,offset}',
      'apm2://threads/{threadId}/attachments/{attachmentId}{?offset}',
    ])
    const complete = (uri: string, name: string, value: string) =>
      client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })
    const agents = await complete('apm2://agents/{agentId}{?cursor,limit}', 'agentId', alice.toUpperCase())
    expect(agents.completion.values).toContain(alice)
    const threads = await complete('apm2://threads/{threadId}{?cursor,limit,offset}', 'threadId', '')
    expect(threads.completion).toEqual({ values: [thread], hasMore: false })
    expect((await complete('apm2://nothing/{x}', 'x', '')).completion.values).toEqual([])
  })
})

verifies('hub.doors.together', 'what is sent through one door is read through the others', async () => {
  const [alice = '', bob = ''] = names('alice', 'bob')
  await mailbox(parley(), alice).send(bob, 'by mailbox', `m-${alice}`)
  const own = await as(bob).read<{ threads: { thread: string; unread: number }[] }>(`apm2://agents/${bob}`)
  const [{ thread = '' } = {}] = own.threads
  expect((await as(bob).thread(thread)).messages).toMatchObject([{ text: 'by mailbox', from: alice }])
  await as(bob).send(alice, 'by hub', { thread })
  expect(await mailbox(parley(), alice).check()).toMatchObject({ content: 'by hub', from: bob })
  const { topic_id } = await bus(alice, 'topic_create', { name: `topic of ${alice}` })
  for (const name of [alice, bob]) await bus(name, 'topic_join', { agent_name: name, topic_id })
  expect(await as(bob).send(alice, 'into the topic', { thread: topic_id })).toMatchObject({ thread: topic_id, seq: 1 })
  expect(await bus(alice, 'sync', { topic_id, wait_seconds: 0 })).toMatchObject({
    received: [{ content_markdown: 'into the topic', sender: bob }],
  })
})
