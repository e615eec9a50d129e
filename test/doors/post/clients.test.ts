/** The routes of the post door for clients that take care of each message, over real HTTP, on both engines. */
import { expect } from 'vitest'
import { mailbox } from '../../support/parley.ts'
import { connect, connected, eachPost, register } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

const nobodys = '019c8a52-1f00-7000-8000-0242ac120002'

eachPost('Clients of the post door', (parley) => {
  verifies('post.unread.listed', 'all sessions, the oldest first, and nothing is marked', async () => {
    const [alice, bob] = await connected(parley())
    const carol = await register(parley(), 'carol')
    await connect(carol, bob)
    const sent = [
      (await alice.send(bob, 'One', 'first')).body,
      (await carol.send(bob, 'Two', 'second')).body,
      (await alice.send(bob, 'One', 'third', { automatic: true })).body,
    ]
    await bob.send(alice, 'One', 'my own')
    const { status, body } = await bob.get('/messages/unread')
    expect(status).toBe(200)
    expect(body).toEqual({
      messages: [
        { ...sent[0], from_agent: alice.name, content: 'first', subject: 'One', automatic: false, trust: 'contact' },
        { ...sent[1], from_agent: carol.name, content: 'second', subject: 'Two', automatic: false, trust: 'contact' },
        {
          ...sent[2],
          from_agent: alice.name,
          content: 'third',
          subject: 'One',
          automatic: true,
          trust: 'contact',
          hops: 1,
        },
      ],
      has_more: false,
      next_after: null,
    })
    expect((await bob.get('/messages/unread')).body).toEqual(body)

    // Page by page; what is claimed stays in the list, what is read leaves it.
    const first = await bob.get('/messages/unread?limit=2')
    expect(first.body).toEqual({ messages: body.messages.slice(0, 2), has_more: true, next_after: sent[1].message_id })
    const rest = await bob.get(`/messages/unread?limit=2&after=${first.body.next_after}`)
    expect(rest.body).toEqual({ messages: body.messages.slice(2), has_more: false, next_after: null })
    await bob.post(`/messages/${body.messages[0].message_id}/claim`)
    expect((await bob.get('/messages/unread')).body).toEqual(body)
    await bob.post(`/messages/${body.messages[0].message_id}/read`)
    expect((await bob.get('/messages/unread')).body.messages).toEqual(body.messages.slice(1))
    const after = await bob.get(`/messages/unread?after=${body.messages[0].message_id}`)
    expect(after.body.messages).toEqual(body.messages.slice(1))

    for (const [path, code] of [
      [`?after=${nobodys}`, 404],
      ['?limit=0', 422],
      ['?limit=51', 422],
      ['?after=x', 422],
    ] as const)
      expect((await bob.get(`/messages/unread${path}`)).status, path).toBe(code)
    // Not that of somebody else: alice was sent another message.
    expect((await alice.get(`/messages/unread?after=${body.messages[0].message_id}`)).status).toBe(404)
  })

  verifies('post.unread.listed', 'an answer has at most 1 MiB of texts, and one message at least', async () => {
    const [alice, bob] = await connected(parley())
    const text = 'x'.repeat(700 * 1024)
    const own = mailbox(parley(), alice.name, { headers: { 'X-API-Key': alice.key } })
    for (const msg of [text, text]) await own.send(bob.name, msg)
    const page = await bob.get('/messages/unread')
    expect(page.body.messages.map(({ content }: { content: string }) => content.length)).toEqual([text.length])
    expect(page.body.has_more).toBe(true)
    const next = await bob.get(`/messages/unread?after=${page.body.messages[0].message_id}`)
    expect(next.body.messages).toHaveLength(1)
    expect(next.body.has_more).toBe(false)
  })

  verifies('post.session.other', 'the subject and the other agent of a session', async () => {
    const [alice, bob] = await connected(parley())
    const carol = await register(parley(), 'carol')
    const { session_id } = (await alice.send(bob, 'Plan', 'hello')).body
    const told = (other: { name: string }) => ({ session_id, subject: 'Plan', other_agent_name: other.name })
    expect(await alice.get(`/sessions/${session_id}`)).toMatchObject({ status: 200, body: told(bob) })
    expect(await bob.get(`/sessions/${session_id}`)).toMatchObject({ status: 200, body: told(alice) })
    expect((await bob.get('/messages/unread')).body.messages).toHaveLength(1)
    expect((await carol.get(`/sessions/${session_id}`)).status).toBe(403)
    expect((await carol.get(`/sessions/${nobodys}`)).status).toBe(404)
    expect((await carol.get('/sessions/x')).status).toBe(422)
  })
})
