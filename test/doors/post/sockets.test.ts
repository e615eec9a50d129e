/** The WebSocket of the post door, with real sockets, on both engines. */
import { once } from 'node:events'
import { request } from 'node:http'
import { expect } from 'vitest'
import { callTool, mailbox } from '../../support/parley.ts'
import { connect, connected, eachPost, register } from '../../support/post.ts'
import { openSocket, socketOf } from '../../support/sockets.ts'
import { verifies } from '../../support/verifies.ts'

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)

eachPost('The WebSocket of the post door', (parley) => {
  verifies(['post.flow.socket', 'post.socket.events'], 'a message comes as an event', async () => {
    const [alice, bob] = await connected(parley())
    const socket = await socketOf(parley(), bob)
    const { body: sent } = await alice.send(bob, 'Project collaboration', 'Hello Bob!')
    expect(await socket.next()).toEqual({
      type: 'new_message',
      session_id: sent.session_id,
      subject: 'Project collaboration',
      from_agent: alice.name,
      content: 'Hello Bob!',
      message_id: sent.message_id,
      created_at: sent.created_at,
      automatic: false,
    })
    // One's own messages are no news.
    await bob.send(alice, 'Project collaboration', 'Hello yourself!')
    await alice.send(bob, 'project COLLABORATION', 'again')
    expect(await socket.next()).toMatchObject({ content: 'again', subject: 'Project collaboration' })
    expect(socket.events).toEqual([])
  })

  verifies('post.socket.events', 'requests and approvals come as events', async () => {
    const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
    const [atAlice, atBob] = [await socketOf(parley(), alice), await socketOf(parley(), bob)]
    const { body: asked } = await alice.request(bob, 'Want to chat?')
    expect(await atBob.next()).toEqual({
      type: 'connection_request',
      connection_id: asked.connection_id,
      from_agent: alice.name,
      message: 'Want to chat?',
      verification_code: asked.verification_code,
    })
    await bob.approve(asked.verification_code)
    expect(await atAlice.next()).toEqual({
      type: 'connection_approved',
      connection_id: asked.connection_id,
      connected_agent: bob.name,
    })
    expect([atAlice.events, atBob.events]).toEqual([[], []])
  })

  verifies('post.socket.key', 'the key comes in one of several ways', async () => {
    const [alice, bob] = await connected(parley())
    const sockets = [
      await socketOf(parley(), bob),
      await openSocket(parley(), '/ws/', { headers: { 'X-API-Key': bob.key } }),
      await openSocket(parley(), '/ws', { headers: { Authorization: `Bearer ${bob.key}` } }),
      await openSocket(parley(), '/ws'),
    ]
    const late = sockets[3]
    late?.say({ type: 'auth', api_key: bob.key })
    late?.say({ type: 'ping' })
    expect(await late?.next()).toEqual({ type: 'auth_ok' })
    expect(await late?.next()).toEqual({ type: 'pong' })
    await alice.send(bob, 'All', 'hello')
    for (const socket of sockets) expect(await socket.next()).toMatchObject({ content: 'hello' })
    const wrong = `amb_${'0'.repeat(64)}`
    const refused = [
      await openSocket(parley(), `/ws?api_key=${wrong}`),
      await openSocket(parley(), '/ws?api_key='),
      await openSocket(parley(), '/ws', { headers: { 'X-API-Key': 'nonsense' } }),
      await openSocket(parley(), '/ws'),
      await openSocket(parley(), '/ws'),
    ]
    refused[3]?.say({ type: 'auth', api_key: wrong })
    refused[4]?.say('what?')
    for (const { closed } of refused) expect(await closed).toMatchObject({ code: 4001 })
  })

  verifies('post.socket.several', 'the end of one socket takes nothing from another', async () => {
    const [alice, bob] = await connected(parley())
    const [old, other] = [await socketOf(parley(), bob), await socketOf(parley(), bob)]
    await alice.send(bob, 'Several', 'one')
    for (const socket of [old, other]) expect(await socket.next()).toMatchObject({ content: 'one' })
    old.socket.close()
    await old.closed
    const fresh = await socketOf(parley(), bob)
    await alice.send(bob, 'Several', 'two')
    for (const socket of [other, fresh]) expect(await socket.next()).toMatchObject({ content: 'two' })
  })

  verifies('post.socket.ping', 'a ping is answered, and nonsense is passed over', async () => {
    const socket = await socketOf(parley(), await register(parley(), 'alice'))
    for (const said of ['', '{', '[]', 'null', '{"type":"other"}', '{"type":"auth","api_key":1}']) socket.say(said)
    socket.say({ type: 'ping' })
    expect(await socket.next()).toEqual({ type: 'pong' })
    socket.say('x'.repeat(5000))
    expect(await socket.closed).toMatchObject({ code: 1009 })
  })

  verifies('post.socket.anywhere', 'mail of every door comes as an event, each once and in order', async () => {
    const [alice, bob] = await connected(parley())
    const socket = await socketOf(parley(), bob)
    const asAlice = { headers: { 'X-API-Key': alice.key } }
    await mailbox(parley(), alice.name, asAlice).send(bob.name, 'by the mailbox')
    expect(await socket.next()).toMatchObject({ content: 'by the mailbox', from_agent: alice.name })
    const mail = {
      project_key: 'commons',
      sender_name: alice.name,
      to: [bob.name],
      subject: 'Mail',
      body_md: 'by mail',
    }
    await callTool(`${parley().url}/mcp`, 'send_message', mail, asAlice)
    expect(await socket.next()).toMatchObject({ content: 'by mail', subject: 'Mail', created_at: isoTime })
    const texts = Array.from({ length: 150 }, (_, n) => `${n}`)
    const sent = await Promise.all(texts.map((text) => alice.send(bob, 'Many', text)))
    const ids: string[] = []
    for (const _ of texts) ids.push((await socket.next()).message_id)
    expect([...ids].sort()).toEqual(sent.map(({ body }) => body.message_id).sort())
    const { messages } = (await bob.history(sent[0]?.body.session_id, '?limit=50')).body
    expect(ids.slice(-50).reverse()).toEqual(messages.map(({ id }: { id: string }) => id))
    expect(socket.events).toEqual([])
  })

  verifies('post.socket.origin', 'a foreign page or host is refused', async () => {
    const { key } = await register(parley(), 'alice')
    for (const headers of [{ Origin: 'https://evil.example' }, { Host: 'evil.example' }])
      await expect(openSocket(parley(), `/ws?api_key=${key}`, { headers })).rejects.toThrow('403')
    await openSocket(parley(), `/ws?api_key=${key}`, { headers: { Origin: parley().url } })
  })

  verifies('post.socket.upgrades', 'an upgrade to something else is a plain request', async () => {
    const { key } = await register(parley(), 'alice')
    const asked = request(`${parley().url}/agents/me`, {
      headers: {
        Connection: 'Upgrade, HTTP2-Settings',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAMAAABkAAQ',
        'X-API-Key': key,
      },
    }).end()
    const [response] = await once(asked, 'response')
    response.resume()
    expect(response.statusCode).toBe(200)
    await expect(openSocket(parley(), '/nowhere')).rejects.toThrow('404')
    const plain = await fetch(`${parley().url}/ws`)
    expect(plain.status).toBe(404)
  })

  verifies('post.socket.slow', 'a socket that does not read is closed, and its mail stays', async () => {
    const [alice, bob] = await connected(parley())
    const carol = await register(parley(), 'carol')
    await connect(alice, carol)
    const [slow, quick] = [await socketOf(parley(), bob), await socketOf(parley(), carol)]
    slow.socket.pause()
    const asAlice = mailbox(parley(), alice.name, { headers: { 'X-API-Key': alice.key } })
    const text = 'x'.repeat(1 << 20)
    let sent = 0
    const gone = slow.closed.then(({ code, reason }) => ({ code, reason }))
    const open = async () =>
      Number(/^parley_sockets (\d+)/m.exec(await (await fetch(`${parley().url}/metrics`)).text())?.[1])
    expect(await open()).toBe(2)
    // The kernel takes some megabytes before anything waits here.
    for (; sent < 20; sent++) await asAlice.send(bob.name, text)
    await alice.send(carol, 'Quick', 'hello')
    expect(await quick.next()).toMatchObject({ content: 'hello' })
    slow.socket.resume()
    expect(await gone).toMatchObject({ code: 4003, reason: expect.stringContaining('inbox') })
    expect(slow.events.length).toBeLessThan(sent)
    const { sessions } = (await bob.inbox('?unread_only=true')).body
    expect(sessions.reduce((sum: number, { unread_count }: { unread_count: number }) => sum + unread_count, 0)).toBe(
      sent,
    )
  })
})
