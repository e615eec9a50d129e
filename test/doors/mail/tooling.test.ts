/** The mail door about itself: its health, its tools, how they are used, and what goes wrong. */
import type { Client } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import type { About } from '../../../src/doors/mail/about.ts'
import { playbooks } from '../../../src/doors/mail/clusters.ts'
import { mailDoor } from '../../../src/doors/mail/door.ts'
import { toolingTools } from '../../../src/doors/mail/tools/tooling.ts'
import { connectClient, eras, mailbox, serveHere, shareServer } from '../../support/parley.ts'
import { repositoryFiles, withoutComments } from '../../support/sources.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer({ env: { APP_ENVIRONMENT: 'testing' } })
const connect = (era: (typeof eras)[number], query = '') => connectClient(`${parley().url}/mcp${query}`, era)

// biome-ignore lint/suspicious/noExplicitAny: each resource has a shape of its own
async function read(client: Client, uri: string): Promise<any> {
  const [content] = (await client.readResource({ uri })).contents
  return content && 'text' in content ? JSON.parse(content.text) : undefined
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>

/** A project with an agent, both new; the names are those the server gives. */
async function settle(client: Client, key: string) {
  const { slug } = await call(client, 'ensure_project', { human_key: key })
  const { name } = await call(client, 'register_agent', { project_key: key, program: 'test', model: 'none' })
  return { key, slug: String(slug), name: String(name) }
}

describe.each(eras)('in %s', (era) => {
  verifies(['mail.health.check', 'mail.environment.read'], 'the server tells how it is and where', async () => {
    const client = await connect(era)
    const { port, storage } = parley()
    const database_url = `sqlite:${storage}/parley.sqlite3`
    expect(await call(client, 'health_check')).toEqual({
      status: 'ok',
      environment: 'testing',
      http_host: '127.0.0.1',
      http_port: port,
      database_url,
    })
    expect(await read(client, 'resource://config/environment')).toMatchObject({
      environment: 'testing',
      database_url,
      http: { host: '127.0.0.1', port, path: '/mcp' },
    })
  })

  verifies('mail.directory.derived', 'every tool is in one cluster, and playbooks name tools that exist', async () => {
    const client = await connect(era)
    const listed = (await client.listTools()).tools.map(({ name }) => name)
    const { clusters, metrics_uri, generated_at, ...directory } = await read(client, 'resource://tooling/directory')
    const grouped = clusters.flatMap(({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name))
    expect(grouped.sort()).toEqual(listed.sort())
    for (const { name, purpose, tools } of clusters) expect([name, purpose, tools.length > 0]).not.toContain(false)
    expect(directory.playbooks).toEqual(playbooks)
    for (const { sequence } of playbooks) expect(listed).toEqual(expect.arrayContaining([...sequence]))
    for (const offer of Object.values<string[]>(directory.offers)) expect(listed).toEqual(expect.arrayContaining(offer))
    expect(await read(client, metrics_uri)).toHaveProperty('tools')
    expect(Date.parse(generated_at)).toBeGreaterThan(0)
  })

  verifies('mail.schemas.arguments', 'the arguments of each tool are as it takes them', async () => {
    const client = await connect(era)
    const { tools } = await read(client, 'resource://tooling/schemas')
    for (const { name, inputSchema } of (await client.listTools()).tools) {
      expect(tools[name].required, name).toEqual(inputSchema.required ?? [])
      expect([...tools[name].required, ...tools[name].optional].sort(), name).toEqual(
        Object.keys(inputSchema.properties ?? {}).sort(),
      )
    }
    expect(tools.health_check).toEqual({ required: [], optional: [], aliases: {} })
    expect(tools.macro_contact_handshake.aliases).toEqual({ requester: ['agent_name'], target: ['to_agent'] })
    const { key, name } = await settle(client, `/srv/aliases-${era}`)
    const { name: other } = await settle(client, key)
    const names = { agent_name: name, to_agent: other }
    expect(await call(client, 'macro_contact_handshake', { project_key: key, ...names })).toMatchObject({
      request: { from: name, to: other },
    })
    const recent = await read(client, `resource://tooling/recent/60?agent=${name}`)
    expect(recent.entries).toMatchObject([{ tool: 'macro_contact_handshake', project: key }])
  })

  verifies('mail.metrics.counts', 'calls and errors of each tool are counted', async () => {
    const client = await connect(era)
    type Counted = { name: string; cluster: string; calls: number; errors: number }
    const counts = async () => {
      const { tools } = await read(client, 'resource://tooling/metrics')
      return tools.find(({ name }: Counted) => name === 'ensure_project') as Counted
    }
    const before = await counts()
    expect(before.cluster).toBe('identity')
    await call(client, 'ensure_project', { human_key: '/srv/counted' })
    await call(client, 'ensure_project', { human_key: 5 })
    expect(await counts()).toEqual({ ...before, calls: before.calls + 2, errors: before.errors + 1 })
  })

  verifies('mail.capabilities.offered', 'a caller may do what it is offered', async () => {
    const client = await connect(era)
    const { key, slug, name } = await settle(client, `/srv/able-${era}`)
    const able = await read(client, `resource://tooling/capabilities/${name.toLowerCase()}?project=${slug}`)
    expect(able).toMatchObject({ agent: name, project: slug })
    expect(able.capabilities).toEqual(expect.arrayContaining(['messaging:read', 'messaging:write', 'contacts:write']))
    const few = await connect(era, '?tools=macros')
    const uri = `resource://tooling/capabilities/${name}`
    const { capabilities, project } = await read(few, uri)
    expect(capabilities).toContain('macros:write')
    expect(capabilities).not.toContain('search:read')
    expect(project).toBeNull()
    await expect(read(client, `resource://tooling/capabilities/Nobody?project=${key}`)).rejects.toMatchObject({
      data: { code: 'AGENT_NOT_FOUND', hint: expect.stringContaining('register_agent') },
    })
  })

  verifies('mail.recent.filter', 'recent calls are found by agent and by either name of a project', async () => {
    const client = await connect(era)
    const { key, slug, name } = await settle(client, `/srv/recent-${era}`)
    await call(client, 'fetch_inbox', { project_key: slug, agent_name: name })
    await call(client, 'fetch_inbox', { project_key: '/srv/elsewhere', agent_name: name })
    const recent = async (query: string) =>
      (await read(client, `resource://tooling/recent/60?${query}`)).entries.map((entry: { tool: string }) => entry.tool)
    const calls = ['fetch_inbox', 'register_agent', 'ensure_project']
    expect(await recent(`project=${slug}`)).toEqual(calls)
    expect(await recent(`project=${encodeURIComponent(key)}`)).toEqual(calls)
    expect(await recent(`agent=${name.toUpperCase()}&project=${slug}`)).toEqual(['fetch_inbox'])
    expect(await recent(`agent=${name}`)).toEqual(['fetch_inbox', 'fetch_inbox'])
    await expect(recent('project=nowhere')).rejects.toMatchObject({ data: { code: 'PROJECT_NOT_FOUND' } })
  })

  verifies('mail.hints.own', 'what is not there is said with the calls of this door', async () => {
    const client = await connect(era)
    const { key, name } = await settle(client, `/srv/hints-${era}`)
    const hintOf = async (tool: string, args: Record<string, unknown>) => (await call(client, tool, args)).error
    expect(await hintOf('fetch_inbox', { project_key: '/srv/unknown', agent_name: name })).toMatchObject({
      code: 'PROJECT_NOT_FOUND',
      hint: expect.stringContaining('ensure_project with human_key'),
    })
    expect(await hintOf('fetch_inbox', { project_key: key, agent_name: 'Nobody' })).toMatchObject({
      code: 'AGENT_NOT_FOUND',
      hint: expect.stringMatching(/register_agent.*list_agents/),
    })
    const unknown = { project_key: key, agent_name: name, message_id: 999_999 }
    expect(await hintOf('mark_message_read', unknown)).toMatchObject({
      code: 'MESSAGE_NOT_FOUND',
      hint: expect.stringContaining('fetch_inbox'),
    })
    await expect(read(client, 'resource://project/unknown')).rejects.toMatchObject({
      code: -32602,
      data: {
        uri: 'resource://project/unknown',
        code: 'PROJECT_NOT_FOUND',
        hint: expect.stringContaining('resource://projects'),
      },
    })
  })
})

verifies(
  'mail.hints.own',
  'A full mailbox names check_mail at the mailbox door, and not at the mail door',
  async () => {
    const full = await serveHere({ env: { MAILBOX_MAX_DEPTH: '1' } })
    await mailbox(full, 'GreenCastle').send('BlueLake', 'one')
    await expect(mailbox(full, 'GreenCastle').send('BlueLake', 'two')).rejects.toMatchObject({
      code: 'MAILBOX_FULL',
      hint: expect.stringContaining('check_mail'),
    })
    const client = await connectClient(`${full.url}/mcp`, '2026-07-28')
    const { error } = await call(client, 'send_message', {
      ...{ project_key: 'commons', sender_name: 'GreenCastle', to: ['BlueLake'] },
      ...{ subject: 'three', body_md: 'three' },
    })
    expect(error).toMatchObject({ code: 'MAILBOX_FULL', hint: expect.not.stringContaining('check_mail') })
  },
)

verifies('mail.hints.own', 'Who is no contact reads at the mailbox door where contact is made', async () => {
  const client = await connect('2026-07-28')
  const project_key = 'commons'
  const agent_name = (await call(client, 'register_agent', { project_key, program: 'test', model: 'none' })).name
  await call(client, 'set_contact_policy', { project_key, agent_name, policy: 'contacts_only' })
  await expect(mailbox(parley(), 'stranger').send(String(agent_name), 'hello')).rejects.toMatchObject({
    code: 'CONTACT_REQUIRED',
    hint: expect.stringContaining('at the mail door'),
  })
})

verifies('mail.hints.own', 'Core names no tool of the mail door but in the message that asks for contact', () => {
  const tools = mailDoor({} as Hub, {} as About).tools.map(({ name }) => name)
  const names = new RegExp([...tools.filter((name) => name.includes('_')), 'project_key', 'auto_contact'].join('|'))
  const core = repositoryFiles().filter(({ path }) => /^src\/core\/[^.]+\.ts$/.test(path))
  const named = core.filter(({ text }) => names.test(withoutComments(text)))
  expect(named.map(({ path }) => path)).toEqual(['src/core/contacts/intro.ts'])
})

verifies(
  'mail.health.check',
  'A database that does not answer makes the health degraded, not the call fail',
  async () => {
    const hub = { ready: () => Promise.reject(new Error('gone')) } as unknown as Hub
    const about = { environment: 'testing', http: { host: 'h', port: 1 }, databaseUrl: 'sqlite:/srv/x' } as About
    const [health] = toolingTools(hub, about)
    expect(await health?.run({}, {} as never)).toMatchObject({ status: 'degraded', environment: 'testing' })
  },
)
