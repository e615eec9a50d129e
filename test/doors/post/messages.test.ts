/** Sending, the inbox and the history of the post door, over real HTTP, on both engines. */
import { expect } from 'vitest'
import { callTool, mailbox } from '../../support/parley.ts'
import { connect, connected, eachPost, freshName, register } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const nobodys = '019c8a52-1f00-7000-8000-0242ac120002'

eachPost('Messages of the post door', (parley) => {
  verifies('post.send.begins', 'a message about something new begins a session', async () => {
    const [alice, bob] = await connected(parley())
    const sent = await alice.send(bob, 'Project collaboration', 'Hello Bob, shall we start?', { session_id: null })
    expect(sent).toMatchObject({ status: 201, body: { subject: 'Project collaboration' } })
    expect(Object.keys(sent.body)).toEqual(['message_id', 'session_id', 'subject', 'created_at'])
    expect(sent.body.message_id).toMatch(uuid)
    expect(sent.body.session_id).toMatch(uuid)
    const other = await alice.send(bob, 'Something else', 'And this?')
    expect(other.body.session_id).not.toBe(sent.body.session_id)
  })

  verifies('post.send.joins', 'the same subject is the same session, for these two alone', async () => {
    const [alice, bob] = await connected(parley())
    const carol = await register(parley(), 'carol')
    await connect(alice, carol)
    const first = (await alice.send(bob, 'Plan Ä', 'one')).body.session_id
    expect((await alice.send(bob, 'plan ä', 'two')).body.session_id).toBe(first)
    expect((await bob.send(alice, ' PLAN Ä ', 'three')).body.session_id).toBe(first)
    expect((await alice.send(carol, 'Plan Ä', 'four')).body.session_id).not.toBe(first)
  })

  verifies('post.send.joins', 'of messages about one new subject that come at once, all join one session', async () => {
    const [alice, bob] = await connected(parley())
    const sent = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        n % 2 ? alice.send(bob, 'At once', `${n}`) : bob.send(alice, 'at ONCE', `${n}`),
      ),
    )
    expect(sent.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect(new Set(sent.map(({ body }) => body.session_id)).size).toBe(1)
  })

  verifies('post.send.session', 'session_id chooses the session', async () => {
    const [alice, bob] = await connected(parley())
    const carol = await register(parley(), 'carol')
    await connect(carol, alice)
    await connect(carol, bob)
    const { session_id } = (await alice.send(bob, 'Ours', 'one')).body
    const joined = await bob.send(alice, undefined, 'two', { session_id })
    expect(joined).toMatchObject({ status: 201, body: { session_id, subject: 'Ours' } })
    const other = await bob.send(alice, 'Mine', 'three', { session_id })
    expect(other).toMatchObject({ status: 201, body: { session_id, subject: 'Ours' } })
    expect((await carol.send(alice, undefined, 'me too', { session_id })).status).toBe(403)
    expect((await alice.send(carol, undefined, 'you too', { session_id })).status).toBe(403)
    const unknown = await alice.send(bob, undefined, 'where', { session_id: nobodys })
    expect(unknown).toMatchObject({ status: 404, body: { code: 'THREAD_NOT_FOUND' } })
    expect((await alice.send(bob, undefined, 'no subject')).status).toBe(422)
    expect((await alice.history(session_id, '?limit=50')).body.messages).toHaveLength(3)
  })

  verifies(
    ['post.send.unconnected', 'post.send.quiet'],
    'without a connection nothing is sent, nor asked for',
    async () => {
      const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
      expect(await alice.send(bob, 'Hello', 'hello')).toMatchObject({ status: 403, body: { code: 'CONTACT_REQUIRED' } })
      expect((await bob.inbox()).body).toMatchObject({ sessions: [], pending_connections: [] })
      expect((await alice.send({ name: freshName('nobody') }, 'Hello', 'hello')).status).toBe(404)
      expect((await alice.send(alice, 'Hello', 'hello')).status).toBe(422)
      await alice.request(bob)
      expect((await alice.send(bob, 'Hello', 'hello')).status).toBe(403)
    },
  )

  verifies('post.send.open', 'an agent that is open to all needs no connection', async () => {
    const alice = await register(parley(), 'alice')
    const open = freshName('open')
    await mailbox(parley(), open).check()
    const { body, status } = await alice.send({ name: open }, 'Hello', 'hello there')
    expect(status).toBe(201)
    expect(await mailbox(parley(), open).check()).toMatchObject({
      from: alice.name,
      content: 'hello there',
      subject: 'Hello',
    })
    await mailbox(parley(), 'x-visitor')
      .send(alice.name, 'no way')
      .then(
        () => expect.unreachable(),
        (error: { code: string }) => expect(error.code).toBe('CONTACT_REQUIRED'),
      )
    expect((await alice.history(body.session_id)).body.messages).toMatchObject([{ is_read: true }])
  })

  verifies('post.send.limits', 'texts have their lengths, counted in characters', async () => {
    const [alice, bob] = await connected(parley())
    const status = async (subject: unknown, content: unknown) =>
      (await alice.post('/messages/send', { to: bob.name, subject, content })).status
    expect(await status('s', 'x'.repeat(10_000))).toBe(201)
    expect(await status('s', '😀'.repeat(10_000))).toBe(201)
    expect(await status('s'.repeat(255), 'x')).toBe(201)
    for (const [subject, content] of [
      ['s', 'x'.repeat(10_001)],
      ['s', ''],
      ['s', 'a\0b'],
      ['s', '\ud800'],
      ['s', null],
      ['s'.repeat(256), 'x'],
      ['', 'x'],
      [' ', 'x'],
    ])
      expect(await status(subject, content)).toBe(422)
    expect((await bob.inbox()).body.sessions.map(({ unread_count }: { unread_count: number }) => unread_count)).toEqual(
      [1, 2],
    )
  })

  verifies('post.send.retry', 'a retry stores nothing', async () => {
    const [alice, bob] = await connected(parley())
    const once = await alice.send(bob, 'Retry', 'once', { client_message_id: 'r-1' })
    expect((await alice.send(bob, 'Retry', 'again', { client_message_id: 'r-1' })).body).toEqual(once.body)
    expect((await bob.history(once.body.session_id)).body.messages).toMatchObject([{ content: 'once' }])
  })

  verifies('post.inbox.empty', 'a new agent has an empty inbox', async () => {
    const alice = await register(parley(), 'alice')
    expect(await alice.inbox()).toMatchObject({
      status: 200,
      body: { sessions: [], pending_connections: [], has_more: false, next_before: null },
    })
  })

  verifies('post.inbox.sessions', 'the inbox lists the sessions with their last messages', async () => {
    const [alice, bob] = await connected(parley())
    const { session_id } = (await alice.send(bob, 'First', 'one')).body
    for (const text of ['two', 'three', 'four']) await alice.send(bob, 'First', text)
    await alice.send(bob, 'Second', 'five')
    const { body } = await bob.inbox()
    expect(body.sessions.map(({ subject }: { subject: string }) => subject)).toEqual(['Second', 'First'])
    const first = body.sessions[1]
    expect(Object.keys(first)).toEqual([
      'session_id',
      'subject',
      'other_agent_name',
      'unread_count',
      'last_message_at',
      'recent_messages',
    ])
    expect(first).toMatchObject({ session_id, other_agent_name: alice.name, unread_count: 4 })
    expect(first.recent_messages.map(({ content }: { content: string }) => content)).toEqual(['four', 'three', 'two'])
    expect(first.recent_messages[0]).toMatchObject({ sender_name: alice.name, is_read: false })
    expect(first.last_message_at).toBe(first.recent_messages[0].created_at)
    const own = (await alice.inbox()).body.sessions
    expect(own).toMatchObject([
      { other_agent_name: bob.name, unread_count: 0 },
      { other_agent_name: bob.name, unread_count: 0 },
    ])
    expect((await bob.inbox()).body).toEqual(body)
  })

  verifies('post.inbox.unread-only', 'sessions that are read can be left out', async () => {
    const [alice, bob] = await connected(parley())
    const read = (await alice.send(bob, 'Read', 'one')).body.session_id
    const unread = (await alice.send(bob, 'Unread', 'two')).body.session_id
    await bob.history(read)
    const idsOf = async (query: string) =>
      (await bob.inbox(query)).body.sessions.map(({ session_id }: { session_id: string }) => session_id)
    expect(await idsOf('?unread_only=true')).toEqual([unread])
    expect(await idsOf('?unread_only=false')).toEqual([unread, read])
    expect((await bob.inbox('?unread_only=perhaps')).status).toBe(422)
  })

  verifies('post.inbox.pages', 'each session is on one page', async () => {
    const [alice, bob] = await connected(parley())
    for (const subject of ['a', 'b', 'c', 'd', 'e']) await alice.send(bob, subject, 'one')
    // The oldest becomes the newest, and is unread by its older message too.
    await bob.send(alice, 'a', 'answer')
    for (const query of ['', '&unread_only=true']) {
      const pages: string[][] = []
      let before = ''
      do {
        const { body } = await bob.inbox(`?limit=2${query}${before}`)
        pages.push(body.sessions.map(({ subject }: { subject: string }) => subject))
        before = body.has_more ? `&before=${body.next_before}` : ''
      } while (before !== '')
      expect(pages).toEqual(query === '' ? [['a', 'e'], ['d', 'c'], ['b']] : [['e', 'd'], ['c', 'b'], ['a']])
    }
    expect((await bob.inbox('?limit=0')).status).toBe(422)
    expect((await bob.inbox(`?before=${nobodys}`)).status).toBe(404)
  })

  verifies(['post.history.last', 'all.lists.onwards'], 'the history is paged from the newest', async () => {
    const [alice, bob] = await connected(parley())
    let session = ''
    for (let n = 1; n <= 5; n++) session = (await alice.send(bob, 'Count', `${n}`)).body.session_id
    const { body } = await bob.history(session)
    expect(Object.keys(body).slice(0, 3)).toEqual(['session_id', 'subject', 'messages'])
    expect(body).toMatchObject({ session_id: session, subject: 'Count', has_more: true })
    const texts = (page: typeof body) => page.messages.map(({ content }: { content: string }) => content)
    expect(texts(body)).toEqual(['5', '4', '3'])
    const rest = (await bob.history(session, `?limit=50&before=${body.next_before}`)).body
    expect([texts(rest), rest.has_more, rest.next_before]).toEqual([['2', '1'], false, null])
    const foreign = (await bob.send(alice, 'Other', 'x')).body.message_id
    expect((await bob.history(session, `?before=${foreign}`)).status).toBe(404)
  })

  verifies('post.history.marks-read', 'what was shown is read, and its sender sees that', async () => {
    const [alice, bob] = await connected(parley())
    let session = ''
    for (const text of ['one', 'two', 'three', 'four']) session = (await alice.send(bob, 'Read', text)).body.session_id
    const reads = async () =>
      (await alice.history(session, '?limit=50')).body.messages.map(({ is_read }: { is_read: boolean }) => is_read)
    expect(await reads()).toEqual([false, false, false, false])
    expect((await bob.history(session)).body.messages).toMatchObject([
      { is_read: true },
      { is_read: true },
      { is_read: true },
    ])
    expect(await reads()).toEqual([true, true, true, false])
    expect((await bob.inbox()).body.sessions).toMatchObject([{ unread_count: 1 }])
  })

  verifies('post.history.foreign', 'others and odd limits are refused', async () => {
    const [alice, bob] = await connected(parley())
    const eve = await register(parley(), 'eve')
    const { session_id } = (await alice.send(bob, 'Ours', 'secret')).body
    expect(await eve.history(session_id)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await eve.history(nobodys)).status).toBe(404)
    for (const limit of ['0', '51', '-1', 'x', '1.5'])
      expect((await bob.history(session_id, `?limit=${limit}`)).status).toBe(422)
    expect((await bob.history(session_id, '?limit=50')).status).toBe(200)
  })

  verifies(['post.claim.once', 'post.read.marks'], 'one client claims a message, until it is read', async () => {
    const [alice, bob] = await connected(parley())
    const { message_id } = (await alice.send(bob, 'Claim', 'one')).body
    const claim = (client?: string) => bob.post(`/messages/${message_id}/claim`, client && { client })
    const claims = await Promise.all([claim('one'), claim('two'), claim('three')])
    expect(claims.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const winner = ['one', 'two', 'three'][claims.findIndex(({ status }) => status === 200)]
    expect((await claim(winner)).body).toMatchObject({ message_id, claimed: true })
    expect(await claim()).toMatchObject({ status: 409, body: { code: 'MESSAGE_CLAIMED' } })
    expect((await bob.inbox()).body.sessions).toMatchObject([{ unread_count: 1 }])
    const read = () => bob.post(`/messages/${message_id}/read`)
    expect(await read()).toMatchObject({ status: 200, body: { message_id, is_read: true } })
    expect((await read()).status).toBe(200)
    expect((await claim(winner)).status).toBe(409)
    expect((await bob.inbox()).body.sessions).toMatchObject([{ unread_count: 0 }])
    expect((await alice.post(`/messages/${message_id}/read`)).status).toBe(404)
    expect((await alice.post(`/messages/${message_id}/claim`)).status).toBe(404)
    expect((await bob.post(`/messages/${nobodys}/claim`)).status).toBe(404)
  })

  verifies(['post.claim.key', 'post.claim.turns'], 'a claim brings what a bridge has to know', async () => {
    const [alice, bob] = await connected(parley())
    const say = async (one: typeof alice, two: typeof alice, automatic?: boolean) =>
      (await one.send(two, 'Bridge', 'text', { automatic })).body
    const { session_id, message_id } = await say(alice, bob)
    const claimed = async (agent: typeof alice, message: string) =>
      (await agent.post(`/messages/${message}/claim`)).body
    expect(await claimed(bob, message_id)).toMatchObject({ session_key: null, automatic_turns: 0 })
    expect((await bob.put(`/sessions/${session_id}/key`, { session_key: 'agent:main:main' })).status).toBe(200)
    const first = await say(bob, alice, true)
    expect(await claimed(alice, first.message_id)).toMatchObject({ session_key: null, automatic_turns: 1 })
    const second = await say(alice, bob, true)
    expect(await claimed(bob, second.message_id)).toMatchObject({ session_key: 'agent:main:main', automatic_turns: 2 })
    expect((await bob.history(session_id)).body).toMatchObject({
      automatic_turns: 2,
      messages: [{ automatic: true, hops: 2, trust: 'contact' }, { hops: 1 }, { automatic: false, trust: 'contact' }],
    })
    const third = await say(alice, bob)
    expect(await claimed(bob, third.message_id)).toMatchObject({ automatic_turns: 0 })
    const eve = await register(parley(), 'eve')
    expect((await eve.put(`/sessions/${session_id}/key`, { session_key: 'x' })).status).toBe(403)
  })

  verifies('post.flow.messages', 'a message goes there, is read, and is answered', async () => {
    const [alice, bob] = await connected(parley())
    const { session_id } = (await alice.send(bob, 'Test', 'hello')).body
    const [session] = (await bob.inbox()).body.sessions
    expect(session).toMatchObject({
      session_id,
      unread_count: 1,
      recent_messages: [{ content: 'hello', is_read: false }],
    })
    expect((await bob.history(session_id)).body.messages).toMatchObject([{ content: 'hello' }])
    expect((await bob.inbox()).body.sessions).toMatchObject([{ unread_count: 0, recent_messages: [{ is_read: true }] }])
    await bob.send(alice, 'Test', 'hello yourself', { session_id })
    expect((await alice.inbox('?unread_only=true')).body.sessions).toMatchObject([
      {
        session_id,
        unread_count: 1,
        recent_messages: [{ content: 'hello yourself', sender_name: bob.name }, { is_read: true }],
      },
    ])
  })

  verifies('post.doors.same', 'the mailbox and mail doors show the same mail, read or not', async () => {
    const [alice, bob] = await connected(parley())
    const asBob = { headers: { 'X-API-Key': bob.key } }
    const { session_id } = (await alice.send(bob, 'Same', 'from the post')).body
    const inbox = await callTool(
      `${parley().url}/mcp`,
      'fetch_inbox',
      { project_key: 'commons', agent_name: bob.name, include_bodies: true },
      asBob,
    )
    expect(inbox.structuredContent).toMatchObject({
      result: [{ subject: 'Same', from: alice.name, body_md: 'from the post' }],
    })
    expect(await mailbox(parley(), bob.name, asBob).check()).toMatchObject({
      from: alice.name,
      content: 'from the post',
    })
    expect((await bob.inbox()).body.sessions).toMatchObject([
      { session_id, unread_count: 0, recent_messages: [{ is_read: true }] },
    ])
    await mailbox(parley(), bob.name, asBob).send(alice.name, 'from the mailbox')
    expect((await alice.inbox('?unread_only=1')).body.sessions).toMatchObject([
      { subject: 'from the mailbox', other_agent_name: bob.name, recent_messages: [{ content: 'from the mailbox' }] },
    ])
    // Nobody acts as an agent with a key, at any door.
    const without = await callTool(`${parley().url}/agents/${bob.name}/mcp`, 'check_mail')
    expect(without.structuredContent).toMatchObject({ error: { code: 'FORBIDDEN' } })
  })

  verifies(
    ['post.send.joins', 'post.inbox.several'],
    'a thread of the mail door is joined by its subject, and may have more than two',
    async () => {
      const [alice, bob] = await connected(parley())
      const carol = await register(parley(), 'carol')
      await connect(carol, bob)
      const mail = (name: string, key: string, tool: string, args: object) =>
        callTool(
          `${parley().url}/mcp`,
          tool,
          { project_key: 'commons', sender_name: name, ...args },
          { headers: { 'X-API-Key': key } },
        )
      await mail(alice.name, alice.key, 'send_message', { to: [bob.name], subject: 'Begun by mail', body_md: 'one' })
      const [{ session_id, subject }] = (await bob.inbox()).body.sessions
      expect(subject).toBe('Begun by mail')
      expect((await bob.send(alice, 'begun BY mail', 'two')).body.session_id).toBe(session_id)
      await connect(carol, alice)
      const three = { to: [bob.name, alice.name], subject: 'Of three', body_md: 'x', thread_id: freshName('t') }
      await mail(carol.name, carol.key, 'send_message', three)
      const newest = async () => (await bob.inbox()).body.sessions[0]
      expect(await newest()).toMatchObject({ subject: 'Of three', other_agent_name: carol.name, unread_count: 1 })
      await mail(alice.name, alice.key, 'send_message', { ...three, to: [bob.name, carol.name] })
      expect(await newest()).toMatchObject({ other_agent_name: alice.name, unread_count: 2 })
      await mail(bob.name, bob.key, 'send_message', { ...three, to: [alice.name, carol.name] })
      expect(await newest()).toMatchObject({ other_agent_name: alice.name, unread_count: 2 })
      // Messages between the others are not his, and hide none of his own.
      const before = await newest()
      expect(before.recent_messages).toHaveLength(3)
      for (const body_md of ['a', 'b', 'c', 'd'])
        await mail(alice.name, alice.key, 'send_message', { ...three, to: [carol.name], body_md })
      expect(await newest()).toEqual(before)
      expect((await carol.inbox()).body.sessions[0].recent_messages).toMatchObject([
        { content: 'd' },
        { content: 'c' },
        { content: 'b' },
      ])
    },
  )

  verifies('post.inbox.large', 'a long message of another door is whole in the history', async () => {
    const [alice, bob] = await connected(parley())
    const long = 'é'.repeat(200_000)
    await mailbox(parley(), alice.name, { headers: { 'X-API-Key': alice.key } }).send(bob.name, long)
    const [{ session_id, recent_messages }] = (await bob.inbox()).body.sessions
    expect(recent_messages).toMatchObject([{ truncated: true }])
    expect([...recent_messages[0].content]).toHaveLength(10_000)
    expect((await bob.history(session_id)).body.messages[0].content).toBe(long)
  })
})
