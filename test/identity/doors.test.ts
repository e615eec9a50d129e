/** The mailbox, the hub and the bus for clients whose connection says who they are, over HTTP and stdio. */

import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished, test } from 'vitest'
import { signShared } from '../support/authority.ts'
import { newProject } from '../support/mail.ts'
import { bareEnv, callTool, connectClient, eras, runParley, shareServer, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const secret = 'a secret of more than thirty-two bytes'
const parley = shareServer({ env: { HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: secret } })
const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

const called = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>

const refused = async (path: string, headers: Record<string, string>) => {
  const response = await fetch(`${parley().url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  const { error } = (await response.json()) as { error?: { message: string } }
  return [response.status, error?.message ?? ''] as const
}

/** The refusal of a request that carries the header more than once, which `fetch` would write as one. */
async function doubled(path: string, names: string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = { 'Content-Type': 'application/json', 'X-Parley-Agent': names }
  request(`${parley().url}${path}`, { method: 'POST', headers }, (response) => resolve(text(response)))
    .on('error', reject)
    .end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }))
  return (JSON.parse(await promise) as { error: { message: string } }).error.message
}

const doors = ['/mcp', '/agents/alice/mcp', '/hub/mcp', '/bus/mcp']

describe.each(doors)('At %s', (path) => {
  verifies('identity.header.counts', 'the header must agree with the URL, and an empty one is none', async () => {
    expect(await refused(path, { 'X-Parley-Agent': '' })).toEqual([200, ''])
    // A variable that is not set leaves an empty one on the URL too.
    expect(await refused(`${path}?agent=`, {})).toEqual([200, ''])
    expect(await refused(`${path}?agent=`, { 'X-Parley-Agent': 'alice' })).toEqual([200, ''])
    expect(await doubled(path, ['alice', 'alice'])).toMatch(
      /^The header X-Parley-Agent stands 2 times in the request: "alice" and "alice"\. Take all but one out/,
    )
    expect(await refused(path, { 'X-Parley-Agent': 'ALICE' })).toEqual([200, ''])
    expect(await refused(`${path}?agent=alice`, { 'X-Parley-Agent': 'Alice' })).toEqual([200, ''])
    const [status, message] = await refused(`${path}?agent=alice`, { 'X-Parley-Agent': 'bob' })
    expect(status).toBe(400)
    expect(message).toMatch(/header X-Parley-Agent says "bob", and \?agent= on the URL says "alice"/)
    for (const name of ['a'.repeat(300), 'caf\u00e9']) {
      const [status, message] = await refused(path, { 'X-Parley-Agent': name })
      expect(status).toBe(400)
      expect(message).toContain('header X-Parley-Agent')
    }
  })

  verifies('identity.header.variable', 'a variable that was not filled in is refused with its remedy', async () => {
    for (const [value, remedy] of [
      [`\${AGENT_NAME}`, `"X-Parley-Agent": "\${AGENT_NAME:-}"`],
      ['$WHO', `"X-Parley-Agent": "\${WHO:-}"`],
      [`\${AGENT_NAME:-}`, 'write the name itself'],
      ['{env:AGENT_NAME}', 'write the name itself'],
      ['$(whoami)', 'X-Parley-Agent'],
    ] as const) {
      const [status, message] = await refused(path, { 'X-Parley-Agent': value })
      expect(status).toBe(400)
      expect(message).toContain('has not filled in the variable')
      expect(message).toContain(remedy)
    }
    const onUrl = new URLSearchParams({ agent: `\${AGENT_NAME}` })
    const [status, message] = await refused(`${path.replace(/\?.*/, '')}?${onUrl}`, {})
    expect([status, message]).toEqual([400, expect.stringContaining(`write ?agent=\${AGENT_NAME:-}, and start`)])
  })
})

verifies('identity.header.counts', 'The path of a mailbox is not overruled', async () => {
  for (const [query, headers] of [
    ['', { 'X-Parley-Agent': 'bob' }],
    ['?agent=bob', {}],
  ] as const) {
    const [status, message] = await refused(`/agents/alice/mcp${query}`, headers as Record<string, string>)
    expect(status).toBe(400)
    expect(message).toMatch(/says "bob", and the path is that of "alice".*\/agents\/bob\/mcp/)
  }
})

verifies('identity.header.counts', 'A token that names nobody is nobody, whatever the header says', async () => {
  const headers = {
    Authorization: `Bearer ${await signShared(secret, { sub: 'w', role: 'writer' })}`,
    'X-Parley-Agent': 'alice',
  }
  const project = newProject()
  const mail = await callTool(`${parley().url}/mcp?project=${project}`, 'fetch_inbox', {}, { headers })
  expect(mail.structuredContent?.error).toMatchObject({ message: expect.stringContaining('"agent_name" is missing') })
  const args = { to: 'bob', text: 'hello' }
  const hub = await callTool(`${parley().url}/hub/mcp`, 'apm2.message.send', args, { headers })
  expect(hub.structuredContent?.error).toMatchObject({ code: 'FORBIDDEN' })
})

describe.each(eras)('In %s', (era) => {
  const at = (path: string, headers: Record<string, string> = {}) =>
    connectClient(`${parley().url}${path}`, era, headers)

  verifies(
    ['identity.header.counts', 'identity.greeting.who', 'identity.arguments.filled'],
    'the header names the caller at every door',
    async () => {
      const [ann, ben] = [`ann-${era}`, `ben-${era}`]
      const headers = { 'X-Parley-Agent': ann }
      const box = await at(`/agents/${ben}/mcp`)
      expect(box.getInstructions()).toContain(`You are ${ben} in the project commons, and new there.`)
      const hub = await at('/hub/mcp', headers)
      await called(hub, 'apm2.message.send', { to: ben, text: 'hello' })
      expect(await called(box, 'check_mail')).toMatchObject({ result: { from: ann, content: 'hello' } })
      await called(box, 'send_to_agent', { name: ann, msg: 'and back' })
      expect((await at('/hub/mcp', headers)).getInstructions()).toContain(
        `You are ${ann} in the project commons, with 1 unread`,
      )
      expect((await at(`/agents/${ann}/mcp`, headers)).getInstructions()).toContain('Take them with check_mail.')
      const bus = await at('/bus/mcp', headers)
      expect(bus.getInstructions()).toContain(`You are ${ann} in the project commons`)
      const join = (await bus.listTools()).tools.find(({ name }) => name === 'topic_join')?.inputSchema
      expect(Object.keys(join?.properties ?? {})).not.toContain('agent_name')
      const { topic_id } = await called(bus, 'topic_create', { name: `here ${era}` })
      expect(await called(bus, 'topic_join', { topic_id })).toMatchObject({ agent_name: ann })
      expect(await called(bus, 'topic_join', { topic_id, agent_name: ben })).toMatchObject({
        error: { code: 'INVALID_ARGUMENT', message: expect.stringContaining(`your connection says "${ann}"`) },
      })
    },
  )

  verifies('identity.credential.home', 'a token that names agent and project needs nothing beside it', async () => {
    const project = newProject()
    await callTool(`${parley().url}/mcp`, 'ensure_project', { human_key: project })
    const token = await signShared(secret, { agent: `carol@${project}`, role: 'writer' })
    const headers = { Authorization: `Bearer ${token}` }
    const bus = await at('/bus/mcp', headers)
    const { topic_id } = await called(bus, 'topic_create', { name: 'home' })
    expect(await called(bus, 'topic_join', { topic_id })).toMatchObject({ agent_name: 'carol' })
    expect(await called(bus, 'topic_list')).toMatchObject({ count: 1 })
    expect(await called(bus, 'messages_search', { query: 'hello' })).toMatchObject({ count: 0 })
    await called(bus, 'sync', { topic_id, outbox: [{ content_markdown: 'hello' }], wait_seconds: 0 })
    const box = await at('/agents/carol/mcp', headers)
    await called(box, 'send_to_agent', { name: 'carol', msg: 'note to self' })
    expect((await at('/hub/mcp', headers)).getInstructions()).toContain(
      `You are carol in the project ${project}, with 1`,
    )
    expect(await called(box, 'check_mail')).toMatchObject({ result: { content: 'note to self' } })
    const others = { ...headers, 'X-Parley-Agent': 'dora' }
    for (const [path, tool, args] of [
      ['/hub/mcp', 'apm2.agents.list', {}],
      ['/bus/mcp', 'topic_join', { topic_id }],
      ['/mcp', 'fetch_inbox', {}],
      ['/agents/dora/mcp', 'check_mail', {}],
    ] as const) {
      const { structuredContent } = await callTool(`${parley().url}${path}`, tool, args, { headers: others })
      expect(structuredContent?.error, path).toMatchObject({ code: expect.stringMatching(/FORBIDDEN|AGENT_NOT_FOUND/) })
    }
  })
})

describe('On stdio', () => {
  const start = async (args: string[], env: Record<string, string>) => {
    const storage = await temporaryFolder()
    const client = new Client({ name: 'parley-test', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
    const command = { command: process.execPath, args: [program, ...args], env: bareEnv(storage, env), cwd: storage }
    await client.connect(new StdioClientTransport(command))
    onTestFinished(() => client.close())
    return client
  }

  verifies('identity.stdio.name', 'AGENT_NAME says who the client is, and --agent comes before it', async () => {
    const bus = await start(['bus'], { AGENT_NAME: 'alice' })
    const { topic_id } = await called(bus, 'topic_create', { name: 'here' })
    expect(await called(bus, 'topic_join', { topic_id })).toMatchObject({ agent_name: 'alice' })
    const hub = await start(['hub'], { AGENT_NAME: 'alice' })
    expect(hub.getInstructions()).toContain('You are alice in the project commons')
    const named = await start(['hub', '--agent', 'bob'], { AGENT_NAME: 'alice' })
    expect(named.getInstructions()).toContain('You are bob in the project commons')
  })

  test('an empty AGENT_NAME is none', async () => {
    const { code, stderr } = await runParley(['hub'], bareEnv(await temporaryFolder(), { AGENT_NAME: '' }))
    expect([code, stderr]).toEqual([1, expect.stringContaining('set AGENT_NAME')])
  })
})
