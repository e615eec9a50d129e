/** Agents and connections at the post door, over real HTTP, on both engines. */
import { expect } from 'vitest'
import { mailbox } from '../../support/parley.ts'
import { agentWith, ask, connected, eachPost, freshName, register } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

eachPost('Agents and connections of the post door', (parley) => {
  verifies(['post.register.key', 'post.me.shape'], 'an agent registers, and its key is its own', async () => {
    const name = freshName('alice')
    const made = await ask(parley(), 'POST', '/agents/register', { body: { name, owner_contact: 'a@example.com' } })
    expect(made).toMatchObject({ status: 201, body: { name } })
    expect(Object.keys(made.body)).toEqual(['id', 'name', 'api_key'])
    expect(made.body.id).toMatch(uuid)
    expect(made.body.api_key).toMatch(/^amb_[0-9a-f]{64}$/)
    const me = await agentWith(parley(), { name, key: made.body.api_key }).get('/agents/me')
    expect(me).toMatchObject({ status: 200, body: { id: made.body.id, name, owner_contact: 'a@example.com' } })
    expect(me.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const plain = await register(parley(), 'plain')
    expect((await plain.get('/agents/me')).body.owner_contact).toBeNull()
  })

  verifies('post.register.taken', 'a name that any door has used is taken', async () => {
    const { name } = await register(parley(), 'alice')
    const again = (called: string) => ask(parley(), 'POST', '/agents/register', { body: { name: called } })
    expect(await again(name)).toMatchObject({ status: 409, body: { code: 'AGENT_NAME_IN_USE' } })
    expect((await again(name.toUpperCase())).status).toBe(409)
    const elsewhere = freshName('mailbox')
    await mailbox(parley(), 'somebody').send(elsewhere, 'hello')
    expect((await again(elsewhere)).status).toBe(409)
  })

  verifies('post.register.name', 'a name that is too short, too long or oddly written is refused', async () => {
    for (const name of [
      'ab',
      'a'.repeat(101),
      'a b c',
      'ünder',
      'a/b',
      '-abc',
      'human-overseer',
      '',
      7,
      null,
      undefined,
    ])
      expect([name, (await ask(parley(), 'POST', '/agents/register', { body: { name } })).status]).toEqual([name, 422])
    expect(
      (await ask(parley(), 'POST', '/agents/register', { body: { name: `${freshName('a')}${'b'.repeat(90)}` } }))
        .status,
    ).toBe(201)
  })

  verifies(['post.key.missing', 'post.key.header'], 'a key is needed, in one of two headers', async () => {
    const { key } = await register(parley(), 'alice')
    const me = (headers: Record<string, string>) => ask(parley(), 'GET', '/agents/me', { headers })
    expect((await me({ 'X-API-Key': key })).status).toBe(200)
    expect((await me({ Authorization: `Bearer ${key}` })).status).toBe(200)
    expect(await me({})).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
    expect((await me({ 'X-API-Key': `amb_${'0'.repeat(64)}` })).status).toBe(401)
    expect((await me({ 'X-API-Key': 'nonsense' })).status).toBe(401)
    expect((await ask(parley(), 'POST', '/messages/send', { body: '{"to":' })).status).toBe(401)
  })

  verifies('post.connect.code', 'a request answers with its code', async () => {
    const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
    const asked = await alice.request(bob, 'Hi Bob')
    expect(asked).toMatchObject({ status: 201, body: { target_agent_name: bob.name, status: 'PENDING' } })
    expect(Object.keys(asked.body)).toEqual(['connection_id', 'verification_code', 'target_agent_name', 'status'])
    expect(asked.body.verification_code).toMatch(/^[A-Z]{2}-\d{3}$/)
    expect(asked.body.connection_id).toMatch(uuid)
  })

  verifies(['post.connect.self', 'post.connect.unknown'], 'oneself and nobody cannot be asked', async () => {
    const alice = await register(parley(), 'alice')
    expect((await alice.request(alice)).status).toBe(422)
    const nobody = { name: freshName('nobody') }
    expect(await alice.request(nobody)).toMatchObject({ status: 404, body: { code: 'AGENT_NOT_FOUND' } })
    expect((await ask(parley(), 'POST', '/agents/register', { body: nobody })).status).toBe(201)
    expect((await alice.request(await register(parley(), 'bob'), 'x'.repeat(501))).status).toBe(422)
  })

  verifies('post.connect.twice', 'whoever waits or is connected does not ask again', async () => {
    const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
    const { body } = await alice.request(bob)
    expect(await alice.request(bob)).toMatchObject({ status: 409, body: { code: 'CONTACT_EXISTS' } })
    expect((await bob.request(alice)).status).toBe(409)
    await bob.approve(body.verification_code)
    expect((await alice.request(bob)).status).toBe(409)
    expect((await bob.request(alice)).status).toBe(409)
  })

  verifies('post.connect.twice', 'of two who ask each other at once, one does', async () => {
    const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
    const both = await Promise.all([alice.request(bob), bob.request(alice)])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  verifies('post.connect.many', 'ten requests may wait', async () => {
    const alice = await register(parley(), 'alice')
    const others = await Promise.all(Array.from({ length: 11 }, () => register(parley(), 'other')))
    const asked = await Promise.all(others.map((other) => alice.request(other)))
    expect(asked.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 429])
    const refused = asked.find(({ status }) => status === 429)
    expect(refused).toMatchObject({ body: { code: 'RATE_LIMITED' } })
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    const first = asked.find(({ status }) => status === 201)
    const at = asked.indexOf(first ?? (undefined as never))
    await others[at]?.approve(first?.body.verification_code)
    const left = others[asked.findIndex(({ status }) => status === 429)]
    expect((await alice.request(left ?? alice)).status).toBe(201)
  })

  verifies(['post.approve.active', 'post.flow.connection'], 'the code makes the connection, both ways', async () => {
    const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
    const { body: asked } = await alice.request(bob)
    const approved = await bob.approve(` ${asked.verification_code.toLowerCase()} `)
    expect(approved).toMatchObject({
      status: 200,
      body: { connection_id: asked.connection_id, status: 'ACTIVE', connected_agent_name: alice.name },
    })
    expect((await alice.send(bob, 'there', 'hello')).status).toBe(201)
    expect((await bob.send(alice, 'back', 'hello')).status).toBe(201)
  })

  verifies(['post.approve.other', 'post.approve.unknown'], 'a code is for one agent and one approval', async () => {
    const [alice, bob, eve] = [
      await register(parley(), 'a'),
      await register(parley(), 'b'),
      await register(parley(), 'e'),
    ]
    const { verification_code: code } = (await alice.request(bob)).body
    expect(await eve.approve(code)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await alice.approve(code)).status).toBe(403)
    expect(await bob.approve('QQ-000')).toMatchObject({ status: 404, body: { code: 'CONTACT_NOT_FOUND' } })
    expect((await bob.approve('not a code')).status).toBe(404)
    expect((await bob.approve(code)).status).toBe(200)
    expect((await bob.approve(code)).status).toBe(404)
  })

  verifies('post.code.guesses', 'ten wrong codes a minute are enough', async () => {
    const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
    const { verification_code: code } = (await alice.request(bob)).body
    for (let n = 0; n < 10; n++) expect((await bob.approve(`wrong ${n}`)).status).toBe(404)
    const refused = await bob.approve(code)
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  verifies(
    ['post.pending.listed', 'post.connect.quiet'],
    'a request waits in the inbox, without a message',
    async () => {
      const [alice, bob] = [await register(parley(), 'alice'), await register(parley(), 'bob')]
      const { body: asked } = await alice.request(bob, 'Want to chat?')
      const pending = [
        {
          connection_id: asked.connection_id,
          from_agent_name: alice.name,
          message: 'Want to chat?',
          verification_code: asked.verification_code,
          created_at: expect.stringMatching(/Z$/),
        },
      ]
      expect((await bob.inbox()).body).toMatchObject({ sessions: [], pending_connections: pending })
      expect((await bob.get('/connections/pending')).body).toEqual({ pending_connections: pending })
      expect((await alice.get('/connections/pending')).body).toEqual({ pending_connections: [] })
      await bob.approve(asked.verification_code)
      expect((await bob.inbox()).body.pending_connections).toEqual([])
    },
  )

  verifies('post.connect.filed', 'a message refused at another door locks nobody out', async () => {
    const bob = await register(parley(), 'bob')
    const [ann, ben] = [freshName('ann'), await register(parley(), 'ben')]
    const headers = { Authorization: `Bearer ${ben.key}` }
    for (const knocking of [mailbox(parley(), ann), mailbox(parley(), ben.name, { headers })])
      await expect(knocking.send(bob.name, 'let me in')).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
    const back = await bob.request({ name: ann }, 'Gladly')
    expect(back).toMatchObject({
      status: 201,
      body: { verification_code: null, target_agent_name: ann, status: 'ACTIVE' },
    })
    await mailbox(parley(), ann).send(bob.name, 'now I am in')
    expect((await bob.send({ name: ann }, 'Plan', 'hello')).status).toBe(201)

    const asked = await ben.request(bob, 'It is me')
    expect(asked).toMatchObject({ status: 201, body: { status: 'PENDING' } })
    expect(asked.body.verification_code).toMatch(/^[A-Z]{2}-\d{3}$/)
    expect((await bob.inbox()).body.pending_connections).toMatchObject([
      { connection_id: asked.body.connection_id, verification_code: asked.body.verification_code, message: 'It is me' },
    ])
    expect((await bob.request(ben)).status).toBe(409)
    expect((await bob.approve(asked.body.verification_code)).status).toBe(200)
  })

  verifies('post.answer.id', 'a request without a code is one to answer, by its id', async () => {
    const [bob, eve] = [await register(parley(), 'bob'), await register(parley(), 'eve')]
    const [wanted, unwanted] = [freshName('wanted'), freshName('unwanted')]
    for (const name of [wanted, unwanted])
      await mailbox(parley(), name)
        .send(bob.name, 'let me in')
        .catch(() => {})
    const pending = (await bob.inbox()).body.pending_connections
    expect(pending).toMatchObject(
      [wanted, unwanted].map((from_agent_name) => ({ from_agent_name, verification_code: null, without_code: true })),
    )
    expect((await bob.get('/connections/pending')).body.pending_connections).toEqual(pending)
    const [yes, no] = pending.map(({ connection_id }: { connection_id: string }) => connection_id)
    expect(await eve.post(`/connections/${yes}/approve`)).toMatchObject({
      status: 404,
      body: { code: 'CONTACT_NOT_FOUND' },
    })
    expect((await bob.post('/connections/nonsense/approve')).status).toBe(422)
    expect(await bob.post(`/connections/${yes}/approve`, {})).toMatchObject({
      status: 200,
      body: { connection_id: yes, status: 'ACTIVE', connected_agent_name: wanted },
    })
    expect(await bob.post(`/connections/${no}/deny`)).toMatchObject({
      status: 200,
      body: { connection_id: no, status: 'REJECTED', from_agent_name: unwanted },
    })
    for (const id of [yes, no]) expect((await bob.post(`/connections/${id}/approve`)).status).toBe(404)
    expect((await bob.inbox()).body.pending_connections).toEqual([])
    expect((await bob.send({ name: wanted }, 'Plan', 'hello')).status).toBe(201)
    await mailbox(parley(), wanted).send(bob.name, 'hello')
    await expect(mailbox(parley(), unwanted).send(bob.name, 'hello')).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
    // A request with a code can be denied as well.
    const { connection_id } = (await eve.request(bob)).body
    expect((await bob.post(`/connections/${connection_id}/deny`)).status).toBe(200)
    expect(await eve.request(bob)).toMatchObject({ status: 403, body: { code: 'CONTACT_BLOCKED' } })
  })

  verifies('post.errors.shape', 'every error has the same two fields', async () => {
    const [alice] = await connected(parley())
    const headers = { 'X-API-Key': alice.key, 'Content-Type': 'application/json' }
    const raw = (body: string, more = {}) =>
      ask(parley(), 'POST', '/messages/send', { body, headers: { ...headers, ...more } })
    const answers = [
      [400, await raw('{"to":')],
      [415, await raw('to=bob', { 'Content-Type': 'application/x-www-form-urlencoded' })],
      [413, await raw(JSON.stringify({ to: 'x', content: 'y'.repeat(5 << 20) }))],
      [422, await raw('[]')],
      [422, await raw('{}')],
      [422, await alice.history('not-a-uuid')],
      [401, await ask(parley(), 'GET', '/inbox')],
    ] as const
    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status)
      expect(Object.keys(answer.body)).toEqual(['detail', 'code'])
      expect(typeof answer.body.detail).toBe('string')
    }
  })

  verifies('post.errors.method', 'a method that a path does not take is 405', async () => {
    const { key } = await register(parley(), 'alice')
    const call = (method: string, path: string) => ask(parley(), method, path, { headers: { 'X-API-Key': key } })
    for (const [method, path, allowed] of [
      ['POST', '/inbox', 'GET'],
      ['DELETE', '/agents/me/', 'GET'],
      ['GET', '/messages/send', 'POST'],
      ['PATCH', '/sessions/x/key', 'PUT'],
    ] as const) {
      const { status, headers, body } = await call(method, path)
      expect([path, status, headers.get('allow')]).toEqual([path, 405, allowed])
      expect(Object.keys(body)).toEqual(['detail', 'code'])
    }
    expect((await call('HEAD', '/inbox')).status).toBe(405)
    expect((await call('HEAD', '/docs')).status).toBe(200)
  })

  verifies('post.paths.slash', 'a slash at the end changes nothing', async () => {
    const [alice, bob] = await connected(parley())
    expect((await alice.get('/agents/me/')).status).toBe(200)
    expect((await alice.get('/inbox/?unread_only=true')).status).toBe(200)
    const { body } = await alice.post('/messages/send/', { to: bob.name, subject: 's', content: 'c' })
    expect((await alice.get(`/sessions/${body.session_id}/history/`)).status).toBe(200)
  })
})
