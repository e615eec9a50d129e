/** Tools of another server at the hub door: listed and called by those who hold a grant, and by nobody else. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { printedBy } from '../support/cli.ts'
import { type Foreign, foreignTool, startForeign } from '../support/foreign-server.ts'
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
  temporaryFolder,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const operator = { Authorization: 'Bearer the-operators-token' }

const world = share(async (later): Promise<{ parley: Served; foreign: Foreign }> => {
  const foreign = await startForeign(later)
  foreign.tools = [foreignTool('search'), foreignTool('secret')]
  const storage = await temporaryFolder(later)
  const file = join(storage, 'bridge.json')
  const tickets = { url: foreign.url, headers: { Authorization: 'Bearer theirs' }, allow: ['search'] }
  await writeFile(file, JSON.stringify({ servers: { tickets } }))
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
        is_error: false,
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
