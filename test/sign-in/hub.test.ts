/** The hub as OAuth knows it: the official client finds out where to sign in, and what its token is good for. */
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished } from 'vitest'
import { type Authority, startAuthority } from '../support/authority.ts'
import { connectClient, eras, mailbox, type Served, serveHere, share } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, openSession, pingSession } from '../support/wire.ts'

const world = share(async (later): Promise<{ authority: Authority; parley: Served }> => {
  const authority = await startAuthority(later)
  const env = {
    HTTP_JWT_ENABLED: 'true',
    HTTP_JWT_JWKS_URL: authority.keysUrl,
    HTTP_JWT_ISSUER: authority.issuer,
    HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED: 'false',
  }
  return { authority, parley: await serveHere({ env, later }) }
})

const endpoint = () => `${world().parley.url}/hub/mcp`
const bearer = async (claims: object) => ({
  Authorization: `Bearer ${await world().authority.sign({ aud: endpoint(), sub: 'owner', ...claims })}`,
})
const writing = (agent?: string) => bearer({ scope: 'parley:read parley:write', ...(agent && { agent }) })
const tool = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})
const post = (headers: object, body: object, path = '/hub/mcp') =>
  ask(world().parley, {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const send = tool('apm2.message.send', { to: 'bob', text: 'hello' })

describe('The hub', () => {
  verifies(['all.oauth.challenge', 'all.oauth.metadata'], 'tells a client without a token who issues one', async () => {
    const answer = await post({}, send)
    expect(answer.status).toBe(401)
    const [, url] = /resource_metadata="([^"]+)"/.exec(answer.headers['www-authenticate'] ?? '') ?? []
    const metadata = (await (await fetch(url ?? '')).json()) as { resource: string; authorization_servers: string[] }
    expect(metadata).toMatchObject({ resource: endpoint(), authorization_servers: [world().authority.issuer] })
  })

  for (const era of eras)
    verifies(
      ['all.oauth.metadata', 'all.oauth.audience'],
      `is found and signed in to by the client, in ${era}`,
      async () => {
        const { issuer } = world().authority
        const authProvider = new ClientCredentialsProvider({
          clientId: 'program',
          clientSecret: 'secret',
          scope: 'parley:read parley:write',
          expectedIssuer: issuer,
        })
        const mode = era === '2026-07-28' ? { pin: era } : ('legacy' as const)
        const client = new Client({ name: 'program', version: '1' }, { versionNegotiation: { mode } })
        onTestFinished(() => client.close())
        await client.connect(new StreamableHTTPClientTransport(new URL(endpoint()), { authProvider }))
        const sent = await client.callTool({ name: 'apm2.message.send', arguments: { to: 'bob', text: 'signed in' } })
        expect(sent.isError).toBeFalsy()
        expect(sent.structuredContent).toMatchObject({ seq: 1 })
      },
    )

  for (const era of eras)
    verifies(['all.token.agent', 'all.token.makes'], `serves the agent of a token, in ${era}`, async () => {
      const name = `signed-${era}`
      const client = await connectClient(endpoint(), era, await writing(name))
      const { structuredContent: sent } = await client.callTool({
        name: 'apm2.message.send',
        arguments: { to: `other-${era}`, text: 'hello' },
      })
      const { thread } = sent as { thread: string }
      const other = await connectClient(endpoint(), era, await writing(`other-${era}`))
      const read = await other.callTool({ name: 'apm2.thread.read', arguments: { thread } })
      expect(read.structuredContent).toMatchObject({ messages: [{ from: name, text: 'hello' }] })
      const stranger = await connectClient(endpoint(), era, await writing('stranger'))
      const foreign = await stranger.callTool({ name: 'apm2.thread.read', arguments: { thread } })
      expect(foreign.isError).toBe(true)
    })

  verifies(
    ['all.oauth.challenge', 'all.roles.scope'],
    'answers a reader that wants to write with its scope',
    async () => {
      for (const claims of [
        { scope: 'parley:read', agent: 'rita' },
        { scope: 'parley:read' },
        { scope: 'openid', role: 'writer' },
      ]) {
        const answer = await post(await bearer(claims), send)
        expect(answer.status).toBe(403)
        expect(answer.headers['www-authenticate']).toMatch(
          /^Bearer error="insufficient_scope", scope="parley:read parley:write", /,
        )
        expect(JSON.parse(answer.text)).toMatchObject({ error: { data: { code: 'FORBIDDEN' } } })
      }
    },
  )

  verifies(
    'all.roles.tools',
    'lets an agent that may only read look at its own threads, which stay unread',
    async () => {
      const { parley } = world()
      await mailbox(parley, 'ann', { headers: await writing('ann') }).send('rita', 'to read')
      const rita = await bearer({ scope: 'parley:read', agent: 'rita' })
      const own = async () => {
        const params = { uri: 'apm2://agents/rita' }
        const { text } = await post(rita, { jsonrpc: '2.0', id: 1, method: 'resources/read', params })
        return JSON.parse(JSON.parse(text).result.contents[0].text).threads as { thread: string; unread: number }[]
      }
      const [first] = await own()
      const read = await post(rita, tool('apm2.thread.read', { thread: first?.thread }))
      expect(JSON.parse(read.text).result.structuredContent).toMatchObject({ messages: [{ text: 'to read' }] })
      expect(await own()).toMatchObject([{ unread: 1 }])
    },
  )

  verifies('hub.caller.token', 'takes a token without an agent for nobody, whatever name the URL has', async () => {
    await mailbox(world().parley, 'nina', { headers: await writing('nina') }).send('nobodys', 'not for you')
    for (const headers of [await writing(), await bearer({ scope: 'parley:read' })])
      for (const path of ['/hub/mcp', '/hub/mcp?agent=nobodys']) {
        const list = await post(headers, tool('apm2.agents.list', {}), path)
        expect(list.text).toContain('nobodys')
        const params = { uri: 'apm2://agents/nobodys' }
        const other = await post(headers, { jsonrpc: '2.0', id: 1, method: 'resources/read', params }, path)
        expect(other.text).not.toContain('threads')
      }
    const acted = await post(await writing(), send, '/hub/mcp?agent=nobodys')
    expect(JSON.parse(acted.text).result.structuredContent).toMatchObject({ error: { code: 'FORBIDDEN' } })
  })

  verifies(['all.token.renewed', 'all.token.forged'], 'keeps a session to the agent that opened it', async () => {
    const session = await openSession(endpoint(), await writing('sessa'))
    expect(await pingSession(endpoint(), session, await writing('sessa'))).toBe(200)
    expect(await pingSession(endpoint(), session, await writing('other'))).toBe(404)
    expect(await pingSession(endpoint(), session, await writing())).toBe(404)
    expect(await pingSession(endpoint(), session, {})).toBe(401)
    const elsewhere = await bearer({ agent: 'sessa', scope: 'parley:write', aud: 'http://127.0.0.1:1/hub/mcp' })
    expect(await pingSession(endpoint(), session, elsewhere)).toBe(401)
    expect(await pingSession(endpoint(), session, await writing('sessa'))).toBe(200)
  })
})
