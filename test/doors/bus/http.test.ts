/** The bus door over HTTP: the caller is its session, or the name on its URL, or is asked who it is. */
import { describe, expect } from 'vitest'
import { signShared } from '../../support/authority.ts'
import { httpPeer, type Peer, peer } from '../../support/bus.ts'
import { connectClient, eras, shareServer, startParley, type ToolResult, waitingCalls } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { openSession } from '../../support/wire.ts'

const parley = shareServer({ env: { MAX_WAIT_SECONDS: '20' } })
const endpoint = () => `${parley().url}/bus/mcp`
const named = (name: string) => httpPeer(parley(), `?agent=${encodeURIComponent(name)}`)
const inSession = (token: string) => httpPeer(parley(), '', { 'Mcp-Session-Id': token })

describe.each(eras)('The official client of %s', (era) => {
  const connect = async (query: string): Promise<Peer> => {
    const client = await connectClient(`${endpoint()}${query}`, era)
    return peer(
      async (name, args, signal) =>
        (await client.callTool({ name, arguments: args }, signal && { signal })) as ToolResult,
    )
  }

  verifies(
    ['bus.http.url-name', 'bus.sync.wait', 'bus.sync.both-ways'],
    'talks under the name on its URL',
    async () => {
      const [fox, owl] = [await connect(`?agent=Fox-${era}`), await connect(`?agent=owl-${era}`)]
      const topic = await fox.join(`fox-${era}`, `wood ${era}`)
      await owl.join(`owl-${era}`, `wood ${era}`)
      const answer = owl.sync(topic, { wait_seconds: 20 })
      await expect.poll(() => waitingCalls(parley())).toBe(1)
      await fox.send(topic, 'hello')
      expect(await answer).toMatchObject({ status: 'ready', received: [{ sender: `fox-${era}` }] })
    },
  )

  verifies('bus.wait.untouched', 'moves no cursor with a wait that it cancels', async () => {
    const [fox, owl] = [await connect(`?agent=fox-${era}`), await connect(`?agent=owl-${era}`)]
    const topic = await fox.join(`fox-${era}`, `cancelled ${era}`)
    await owl.join(`owl-${era}`, `cancelled ${era}`)
    const stop = new AbortController()
    const answer = owl.sync(topic, { wait_seconds: 20 }, stop.signal)
    await expect.poll(() => waitingCalls(parley())).toBe(1)
    const sent = fox.send(topic, 'in between')
    stop.abort()
    await expect(answer).rejects.toThrow()
    await sent
    await expect.poll(() => waitingCalls(parley())).toBe(0)
    // The answer that nobody heard is taken back at once, but after the client has turned away.
    expect((await owl.sync(topic, { wait_seconds: 20 })).received).toMatchObject([{ content_markdown: 'in between' }])
  })
})

describe('A session', () => {
  verifies('bus.http.session', 'keeps its joins, apart from those of other sessions', async () => {
    const [one, two] = [inSession(await openSession(endpoint())), inSession(await openSession(endpoint()))]
    const topic = await one.join('squirrel', 'sessions')
    await expect(two.sync(topic)).rejects.toMatchObject({ code: 'AGENT_NOT_JOINED' })
    await expect(two.join('Squirrel', 'sessions')).rejects.toMatchObject({ code: 'AGENT_NAME_IN_USE' })
    await two.join('hedgehog', 'sessions')
    await one.send(topic, 'hello')
    expect(await two.read(topic)).toEqual(['hello'])
  })

  verifies(['bus.http.session', 'bus.name.gone'], 'that is ended leaves its name to others', async () => {
    const token = await openSession(endpoint())
    const topic = await inSession(token).join('mole', 'ended')
    await named('rabbit').join('rabbit', 'ended')
    await named('rabbit').send(topic, 'still here')
    await fetch(endpoint(), { method: 'DELETE', headers: { 'Mcp-Session-Id': token } })
    const next = inSession(await openSession(endpoint()))
    await next.join('mole', 'ended')
    expect(await next.read(topic)).toEqual(['still here'])
  })

  verifies('bus.http.session', 'goes on at another process, and after a restart', async () => {
    const { url, storage } = parley()
    const token = await openSession(endpoint())
    const topic = await inSession(token).join('swallow', 'moving')
    await named('stork').join('stork', 'moving')
    for (const text of ['first', 'second']) {
      const other = await startParley({ storage })
      await named('stork').send(topic, text)
      expect(await httpPeer(other, '', { 'Mcp-Session-Id': token }).read(topic)).toEqual([text])
      await other.end()
    }
    await named('stork').send(topic, 'third')
    expect(await httpPeer({ url }, '', { 'Mcp-Session-Id': token }).read(topic)).toEqual(['third'])
  })
})

describe('A name on the URL', () => {
  verifies(
    ['bus.http.url-name', 'bus.names.alike'],
    'is enough, without any session, however it is written',
    async () => {
      const topic = await named('RED panda').join(' Red Panda ', 'urls')
      await named('bear').join('bear', 'urls')
      await named('bear').send(topic, 'hello')
      expect(await named('RED PANDA').sync(topic)).toMatchObject({ agent_name: 'Red Panda', received_count: 1 })
      expect(await named('red panda').read(topic)).toEqual([])
    },
  )

  verifies('bus.http.url-name', 'is the only one that can be joined under', async () => {
    await expect(named('lynx').join('wolf', 'masks')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('"lynx"'),
    })
  })

  verifies('bus.http.url-name', 'that cannot be one is refused before anything is done', async () => {
    // An empty ?agent= is none: a variable that is not set leaves one (identity.header.counts).
    for (const query of [
      '?agent=%20',
      `?agent=${'x'.repeat(65)}`,
      '?agent=a&agent=b',
      '?agent=%0a',
      '?project=',
      '?project=%20',
      '?project=a%0ab',
      '?project=a&project=b',
      `?project=${'x'.repeat(1025)}`,
    ]) {
      const response = await fetch(`${endpoint()}${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping","arguments":{}}}',
      })
      expect(response.status, query).toBe(400)
      expect(await response.json(), query).toMatchObject({ id: 1, error: { code: -32602 } })
    }
  })

  verifies('all.project.chosen', 'is of the project that ?project= names', async () => {
    const [here, there] = [named('hare'), httpPeer(parley(), '?agent=hare&project=/srv/field')]
    const topic = await here.join('hare', 'apart')
    expect(await there.join('hare', 'apart')).not.toBe(topic)
    await expect(there.sync(topic)).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
  })
})

describe('A key, or a token that names an agent', () => {
  const secret = 'a secret of more than thirty-two bytes'
  const guarded = shareServer({ env: { HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: secret } })
  const at = (headers: Record<string, string>, query = '') => httpPeer(guarded(), query, headers)
  const keyOf = async (name: string) => {
    const response = await fetch(`${guarded().url}/agents/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, owner_contact: 'a@example.com' }),
    })
    return ((await response.json()) as { api_key: string }).api_key
  }
  const bearer = async (claims: object) => ({ Authorization: `Bearer ${await signShared(secret, { ...claims })}` })

  verifies('bus.http.key', 'is who calls, without a session, and with one as well', async () => {
    const ways = {
      key: { 'X-API-Key': await keyOf('otter') },
      token: await bearer({ agent: 'beaver', role: 'writer' }),
    }
    const names = { key: 'otter', token: 'beaver' }
    for (const way of ['key', 'token'] as const) {
      const [headers, name] = [ways[way], names[way]]
      const topic = await at(headers).join(name, `keys ${way}`)
      const reader = at({}, '?agent=heron')
      await reader.join('heron', `keys ${way}`)
      await reader.send(topic, 'hello')
      expect(await at(headers).read(topic)).toEqual(['hello'])
      await at(headers).send(topic, 'from me')
      expect(await reader.sync(topic)).toMatchObject({ received: [{ sender: name, content_markdown: 'from me' }] })
      await at(headers).call('cursor_reset', { topic_id: topic, last_seq: 0 })
      // The join of one client holds for the others: in a session, after a renewed token, and with its name on the URL.
      const token = await openSession(`${guarded().url}/bus/mcp`, headers)
      expect(await at({ ...headers, 'Mcp-Session-Id': token }).read(topic)).toEqual(['hello'])
      const renewed = way === 'key' ? headers : await bearer({ agent: name, role: 'writer', jti: '2' })
      await reader.send(topic, 'again')
      expect(await at(renewed, `?agent=${name}`).read(topic)).toEqual(['again'])
      // A URL that names another one is a mistake.
      await expect(at(headers, '?agent=heron').sync(topic)).rejects.toMatchObject({ code: 'FORBIDDEN' })
      // Nobody else takes its name, nor does it take another's.
      await expect(at({}, `?agent=${name}`).sync(topic)).rejects.toMatchObject({
        code: expect.stringMatching(/AGENT_NOT_JOINED|FORBIDDEN/),
      })
      await expect(at(headers).join('heron', `keys ${way}`)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    }
  })

  verifies('bus.http.key', 'that has not joined is told to, and a token that names nobody is nobody', async () => {
    const headers = { 'X-API-Key': await keyOf('weasel') }
    const { topic_id } = await at(headers).call<{ topic_id: string }>('topic_create', { name: 'unjoined' })
    await expect(at(headers).sync(topic_id)).rejects.toMatchObject({
      code: 'AGENT_NOT_JOINED',
      message: expect.stringContaining('not joined'),
    })
    const nobody = await bearer({ sub: 'w', role: 'writer' })
    await expect(at(nobody).sync(topic_id)).rejects.toMatchObject({
      code: 'AGENT_NOT_JOINED',
      message: expect.stringContaining('who you are'),
    })
  })
})

verifies('bus.http.nobody', 'A caller with neither is told how to name itself, and may still look around', async () => {
  const nobody = httpPeer(parley())
  const { topic_id } = await nobody.call('topic_create', { name: 'nobody' })
  const told = { code: 'AGENT_NOT_JOINED', hint: expect.stringContaining('/bus/mcp?agent=') }
  for (const [tool, args] of [
    ['topic_join', { agent_name: 'me', topic_id }],
    ['sync', { topic_id }],
    ['cursor_reset', { topic_id, last_seq: 0 }],
  ] as const)
    await expect(nobody.call(tool, args), tool).rejects.toMatchObject(told)
  expect(await nobody.call('topic_presence', { topic_id })).toMatchObject({ count: 0 })
  expect(await nobody.call('ping')).toMatchObject({ ok: true })
})
