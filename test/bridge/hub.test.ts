/** Tools of another server at the hub door: listed and called by those who hold a grant, and by nobody else. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { printedBy } from '../support/cli.ts'
import { type Foreign, foreignTool, says, startForeign } from '../support/foreign-server.ts'
import {
  bareEnv,
  callTool,
  connectClient,
  eras,
  mailbox,
  runParley,
  type Served,
  serveHere,
  share,
  type ToolResult,
  temporaryFolder,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const operator = { Authorization: 'Bearer the-operators-token' }

const world = share(async (later): Promise<{ parley: Served; foreign: Foreign }> => {
  const foreign = await startForeign(later)
  const inputSchema = {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1 },
      limit: { type: 'integer', minimum: 1 },
      state: { enum: ['open', 'closed'] },
      tags: { type: 'array', items: { type: 'string' } },
      range: {
        type: 'object',
        properties: { from: { type: 'number' }, to: { type: ['number', 'null'] } },
        required: ['from'],
      },
      notes: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    },
    required: ['query'],
  }
  foreign.tools = [foreignTool('search', { inputSchema, annotations: { readOnlyHint: true } }), foreignTool('secret')]
  const absent = await startForeign(later)
  await absent.stop()
  const storage = await temporaryFolder(later)
  const file = join(storage, 'bridge.json')
  const tickets = { url: foreign.url, headers: { Authorization: 'Bearer theirs' }, allow: ['search'] }
  await writeFile(file, JSON.stringify({ servers: { tickets, gone: { url: absent.url, allow: ['search'] } } }))
  const env = { BRIDGE_CONFIG: file, HTTP_BEARER_TOKEN: 'the-operators-token' }
  return { foreign, parley: await serveHere({ env, storage, later }) }
})

const endpoint = (agent?: string) => `${world().parley.url}/hub/mcp${agent === undefined ? '' : `?agent=${agent}`}`
const grant = (agent: string, more: object = {}, headers: Record<string, string> = operator) =>
  callTool(
    endpoint(),
    'apm2.grant.create',
    { agent, server: 'tickets', can: 'call', ttl_seconds: 60, ...more },
    { headers },
  )

describe('A bridged tool', () => {
  for (const era of eras)
    verifies(['hub.bridge.grant', 'hub.bridge.allowed'], `is there for an agent with a grant, in ${era}`, async () => {
      const { parley, foreign } = world()
      const [name, other] = [`granted-${era}`, `other-${era}`]
      for (const agent of [name, other]) await mailbox(parley, agent).check()
      const [client, stranger] = [await connectClient(endpoint(name), era), await connectClient(endpoint(other), era)]
      const listed = async (of: typeof client) =>
        (await of.listTools()).tools.map((tool) => tool.name).filter((tool) => !tool.startsWith('apm2.'))
      expect(await listed(client)).toEqual([])
      const { structuredContent } = await grant(name)
      const { grant_id } = structuredContent as { grant_id: string }
      await expect.poll(() => listed(client)).toEqual(['tickets.search'])
      expect(await listed(stranger)).toEqual([])
      foreign.calls.length = 0
      const call = { name: 'tickets.search', arguments: { query: 'x' } }
      expect((await client.callTool(call)).structuredContent).toEqual({
        content: [{ type: 'text', text: 'done' }],
        structured_content: null,
      })
      expect(foreign.calls).toMatchObject([{ headers: { authorization: 'Bearer theirs' }, params: { name: 'search' } }])
      for (const one of [call, { ...call, name: 'tickets.secret' }])
        await expect(stranger.callTool(one)).rejects.toThrow(/There is no tool/)
      await expect(client.callTool({ ...call, name: 'tickets.secret' })).rejects.toThrow(/There is no tool/)
      const own = await client.callTool({ name: 'apm2.grant.list', arguments: {} })
      expect(own.structuredContent).toMatchObject({
        grants: [{ grant_id, agent: name, server: 'tickets', can: 'call' }],
      })
      await callTool(endpoint(), 'apm2.grant.revoke', { grant_id }, { headers: operator })
      expect(await listed(client)).toEqual([])
      await expect(client.callTool(call)).rejects.toThrow(/There is no tool/)
      expect(foreign.calls).toHaveLength(1)
    })

  verifies('hub.bridge.grant', 'is granted by the operator, on a server that there is', async () => {
    await mailbox(world().parley, 'someone').check()
    const codeOf = async (call: ReturnType<typeof grant>) =>
      ((await call).structuredContent as { error?: { code: string } }).error?.code
    expect(await codeOf(grant('someone', {}, {}))).toBe('FORBIDDEN')
    const { key } = JSON.parse(await printedBy(world().parley, ['keys', 'create', 'someone', '--json']))
    expect(await codeOf(grant('someone', {}, { Authorization: `Bearer ${key}` }))).toBe('FORBIDDEN')
    expect(await codeOf(grant('someone', { server: 'other' }))).toBe('INVALID_ARGUMENT')
    expect(await codeOf(grant('nobody'))).toBe('AGENT_NOT_FOUND')
    expect(await codeOf(grant('someone', { can: 'read' }))).toBe('INVALID_ARGUMENT')
    expect(await codeOf(grant('someone', { thread: 'T-1' }))).toBe('INVALID_ARGUMENT')
    expect(await codeOf(grant('someone', { server: undefined }))).toBe('INVALID_ARGUMENT')
    expect(await codeOf(grant('someone'))).toBeUndefined()
  })

  const granted = async (agent: string) => {
    await mailbox(world().parley, agent).check()
    await grant(agent)
    return endpoint(agent)
  }
  const errorOf = ({ structuredContent, isError }: ToolResult) => ({
    isError,
    ...(structuredContent as { error: { code: string; message: string } }).error,
  })

  verifies('hub.bridge.failed', 'that fails at its server fails here', async () => {
    const { foreign } = world()
    const at = await granted('failing')
    const { answer } = foreign
    foreign.answer = (response, id) =>
      says(response, id, { content: [{ type: 'text', text: 'no\u202e such\nticket' }], isError: true })
    const error = errorOf(await callTool(at, 'tickets.search', { query: 'x' }))
    foreign.answer = answer
    expect(error).toMatchObject({ isError: true, code: 'BRIDGE_FAILED' })
    expect(error.message).toContain('"no such ticket"')
  })

  verifies(
    'hub.bridge.arguments',
    'takes the arguments that its schema shows, and is not asked for others',
    async () => {
      const { foreign } = world()
      const at = await granted('careful')
      foreign.calls.length = 0
      const faults: [args: Record<string, unknown>, says: RegExp][] = [
        [{}, /"query" is missing/],
        [{ query: 7 }, /"query" must be a string; got 7/],
        [{ query: '' }, /"query" must have at least 1 character/],
        [{ query: 'x', limit: 0 }, /"limit" must be at least 1/],
        [{ query: 'x', limit: 1.5 }, /"limit" must be a whole number/],
        [{ query: 'x', state: 'gone' }, /"state" must be one of "open", "closed"/],
        [{ query: 'x', tags: ['a', 7] }, /"tags\[1\]" must be a string/],
        [{ query: 'x', range: { to: 1 } }, /"range.from" is missing/],
      ]
      for (const [args, says] of faults) {
        const error = errorOf(await callTool(at, 'tickets.search', args))
        expect(error).toMatchObject({ isError: true, code: 'INVALID_ARGUMENT' })
        expect(error.message).toMatch(says)
      }
      expect(foreign.calls).toEqual([])
      const whole = { query: 'x', limit: 3, state: 'open', tags: ['a'], range: { from: 1 }, unlisted: true }
      expect((await callTool(at, 'tickets.search', whole)).isError).toBeUndefined()
      expect(foreign.calls).toMatchObject([{ params: { arguments: whole } }])
    },
  )

  verifies('hub.bridge.arguments', 'takes null below its arguments, and leaves it to the other server', async () => {
    const { foreign } = world()
    const at = await granted('nullable')
    // Its schema is known once it is refused without an argument that it needs.
    await expect.poll(async () => (await callTool(at, 'tickets.search', {})).isError).toBe(true)
    foreign.calls.length = 0
    const args = { query: 'x', range: { from: 1, to: null }, notes: ['a', null] }
    expect((await callTool(at, 'tickets.search', args)).isError).toBeUndefined()
    expect(foreign.calls).toMatchObject([{ params: { arguments: args } }])
  })

  verifies('hub.bridge.annotations', 'is listed with all annotations', async () => {
    const client = await connectClient(await granted('reading'), '2026-07-28')
    const annotations = async () =>
      (await client.listTools()).tools.find(({ name }) => name === 'tickets.search')?.annotations
    expect(await annotations()).toEqual({
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    })
  })

  for (const era of eras)
    verifies('hub.bridge.absent', `of a server that was never there is unavailable, in ${era}`, async () => {
      const name = `waiting-${era}`
      await mailbox(world().parley, name).check()
      const client = await connectClient(endpoint(name), era)
      const call = { name: 'gone.search', arguments: { query: 'x' } }
      await expect(client.callTool(call)).rejects.toThrow(/There is no tool/)
      await grant(name, { server: 'gone' })
      expect(errorOf((await client.callTool(call)) as ToolResult)).toMatchObject({
        isError: true,
        code: 'BRIDGE_UNAVAILABLE',
      })
      // Nothing is known of it: it does not stand in the list, and what is not allowed is not there.
      expect((await client.listTools()).tools.map((tool) => tool.name)).not.toContain('gone.search')
      await expect(client.callTool({ ...call, name: 'gone.other' })).rejects.toThrow(/There is no tool/)
    })

  verifies('hub.bridge.config', 'is not offered by a file that is wrong: the server does not start', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, 'bridge.json')
    await writeFile(file, '{"servers": {"a": {"url": "x", "headers": {"k": "hidden"}}}}')
    const { code, stderr } = await runParley(['serve', '--port', '0'], bareEnv(folder, { BRIDGE_CONFIG: file }))
    expect(code).toBe(2)
    expect(stderr).toContain('BRIDGE_CONFIG')
    expect(stderr).not.toContain('hidden')
  })
})
