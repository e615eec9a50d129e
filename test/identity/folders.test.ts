/** The folder of a client as its project at the mail door: roots in both eras, Codex's workspaces, and clients that do not tell. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { printedBy } from '../support/cli.ts'
import { newProject } from '../support/mail.ts'
import {
  callTool,
  connectClient,
  type EraName,
  eras,
  serveHere,
  share,
  temporaryFolder,
  temporaryRepository,
} from '../support/parley.ts'
import { gitOutput } from '../support/starter.ts'
import { verifies } from '../support/verifies.ts'

/** Two servers of one store: the second has not seen what the first made, and knows of its keys at once. */
const both = share(async (later) => {
  const storage = await temporaryFolder(later)
  return { parley: await serveHere({ storage, later }), maker: await serveHere({ storage, later }) }
})
const parley = () => both().parley
const url = (query = '') => `${parley().url}/mcp${query}`

interface Rooted {
  readonly headers?: Record<string, string>
  readonly query?: string
  /** Its answer; an error where it throws. */
  roots(): readonly string[]
}

/** The official client as one that tells its roots, and how often it was asked. */
async function connectRooted(era: EraName, { headers = {}, query = '', roots }: Rooted) {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy'
  const options = { versionNegotiation: { mode }, capabilities: { roots: { listChanged: true } } } as const
  const client = new Client({ name: 'parley-test', version: '1.0.0' }, options)
  let asked = 0
  client.setRequestHandler('roots/list', async () => {
    asked++
    return { roots: roots().map((uri) => ({ uri })) }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url(query)), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>
  return { client, call, asked: () => asked }
}

const fileUri = (path: string): string => new URL(`file://${path.split('/').map(encodeURIComponent).join('/')}`).href

describe.each(eras)('In %s', (era) => {
  verifies(['identity.project.roots', 'identity.tools.optional'], 'the first root is the project', async () => {
    const project = `${newProject()}/日本 #1`
    const roots = () => [fileUri(project), fileUri(newProject())]
    const { client, call, asked } = await connectRooted(era, { headers: { 'X-Parley-Agent': 'alice' }, roots })
    const { tools } = await client.listTools()
    const send = tools.find(({ name }) => name === 'send_message')?.inputSchema
    expect(send?.required).toEqual(['to', 'subject', 'body_md'])
    expect(Object.keys(send?.properties ?? {})).toEqual(expect.arrayContaining(['project_key', 'sender_name']))
    expect(await call('macro_start_session')).toMatchObject({
      agent: { name: 'alice' },
      project: { human_key: project },
    })
    expect(await call('fetch_inbox')).toMatchObject({ result: [] })
    expect(await call('list_agents')).toMatchObject({ result: [{ name: 'alice' }] })
    expect(asked()).toBe(era === '2026-07-28' ? 3 : 1)
    const below = await connectRooted(era, { roots: () => [fileUri(`${project}/pkg/a`)] })
    expect(await below.call('macro_start_session')).toMatchObject({
      project: { human_key: project, note: expect.stringContaining('lies in the project') },
    })
  })

  verifies('identity.resources.filled', 'a resource is that of the first root', async () => {
    const project = newProject()
    const roots = () => [fileUri(project)]
    const { client, call, asked } = await connectRooted(era, { headers: { 'X-Parley-Agent': 'alice' }, roots })
    const { slug } = (await call('macro_start_session')).project as { slug: string }
    for (const uri of ['resource://inbox', 'resource://agents']) {
      const [content] = (await client.readResource({ uri })).contents
      expect(JSON.parse(content && 'text' in content ? content.text : '')).toMatchObject({
        project: slug,
        count: uri === 'resource://inbox' ? 0 : 1,
      })
    }
    expect(asked()).toBe(era === '2026-07-28' ? 3 : 1)
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.find(({ name }) => name === 'agents')?.uriTemplate).toContain('resource://agents{/slug}')
  })

  verifies('identity.project.roots', 'nobody is asked where something else tells', async () => {
    const [project, other] = [newProject(), newProject()]
    const roots = () => [fileUri(other)]
    const byUrl = await connectRooted(era, { query: `?project=${project}&agent=alice`, roots })
    expect(await byUrl.call('macro_start_session')).toMatchObject({ project: { human_key: project } })
    const byCall = await connectRooted(era, { roots })
    expect(await byCall.call('macro_start_session', { human_key: project })).toMatchObject({
      project: { human_key: project },
    })
    const owned = newProject()
    await callTool(`${both().maker.url}/mcp?agent=alice&project=${owned}`, 'register_agent')
    const printed = await printedBy(parley(), ['keys', 'create', 'alice', '--project', owned])
    const headers = { Authorization: `Bearer ${/amb_[0-9a-f]{64}/.exec(printed)?.[0]}` }
    // An owner's key decides, wherever its client stands; and a folder opens nobody's mailbox.
    const byKey = await connectRooted(era, { headers, roots })
    expect(await byKey.call('macro_start_session')).toMatchObject({ project: { human_key: owned } })
    for (const { asked } of [byUrl, byCall, byKey]) expect(asked()).toBe(0)
    const thief = await connectRooted(era, { headers: { 'X-Parley-Agent': 'alice' }, roots: () => [fileUri(owned)] })
    expect(await thief.call('fetch_inbox')).toMatchObject({ error: { code: 'FORBIDDEN' } })
    expect(await thief.call('macro_start_session')).toMatchObject({ error: { code: 'FORBIDDEN' } })
  })

  verifies('identity.project.silent', 'a client without roots is told what to pass', async () => {
    for (const none of [() => [], () => ['file:relative', 'vscode://x']]) {
      const { call } = await connectRooted(era, { headers: { 'X-Parley-Agent': 'alice' }, roots: none })
      expect(await call('fetch_inbox')).toMatchObject({
        error: { code: 'INVALID_ARGUMENT', message: expect.stringContaining('"project_key" is missing') },
      })
    }
    const plain = await connectClient(url(), era, { 'X-Parley-Agent': 'alice' })
    expect((await plain.callTool({ name: 'fetch_inbox', arguments: {} })).structuredContent).toMatchObject({
      error: { hint: expect.stringContaining('?project=') },
    })
    const needed = (await plain.listTools()).tools.find(({ name }) => name === 'fetch_inbox')?.inputSchema.required
    expect(needed).toEqual(['project_key'])
  })
})

describe.each(eras)('In %s', (era) => {
  verifies('mail.attach.worktree-roots', 'a client in a worktree attaches files of the worktree', async () => {
    const main = await temporaryRepository()
    const as = ['-c', 'user.name=x', '-c', 'user.email=x@example.com']
    const git = (...args: string[]) => gitOutput([...as, ...args], { cwd: main })
    await git('commit', '--quiet', '--allow-empty', '-m', 'x')
    const tree = join(await temporaryFolder(), 'feature')
    await git('worktree', 'add', '--quiet', tree)
    await writeFile(join(tree, 'notes.txt'), 'only here')
    const { call } = await connectRooted(era, {
      headers: { 'X-Parley-Agent': 'alice' },
      roots: () => [fileUri(tree)],
    })
    expect(await call('macro_start_session')).toMatchObject({
      project: { human_key: main, note: expect.stringContaining('is a git worktree of') },
    })
    const letter = { to: ['alice'], subject: 'Notes', body_md: 'see there', attachment_paths: ['notes.txt'] }
    expect(await call('send_message', letter)).toMatchObject({ count: 1, attachments: [{ type: 'file' }] })
  })
})

verifies('identity.project.roots', 'A session asks again once its client says that its roots changed', async () => {
  let root = newProject()
  const { client, call, asked } = await connectRooted('2025-11-25', { roots: () => [fileUri(root)] })
  expect(await call('macro_start_session')).toMatchObject({ project: { human_key: root } })
  root = newProject()
  await client.sendRootsListChanged()
  expect(await call('macro_start_session')).toMatchObject({ project: { human_key: root } })
  expect(asked()).toBe(2)
})

verifies('identity.project.silent', 'A client that fails to answer is asked once a session', async () => {
  const { call, asked } = await connectRooted('2025-11-25', {
    roots: () => {
      throw new Error('no roots today')
    },
  })
  for (const _ of [1, 2])
    expect(await call('macro_start_session')).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } })
  expect(asked()).toBe(1)
})

describe('Codex', () => {
  const post = async (name: string, args: object, turn: unknown, headers: Record<string, string> = {}) => {
    const params = { name, arguments: args, _meta: { 'x-codex-turn-metadata': turn } }
    const response = await fetch(url(), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    return ((await response.json()) as { result: { structuredContent: unknown } }).result.structuredContent
  }

  verifies('identity.project.codex', 'says with each call which repository it works in', async () => {
    const project = newProject()
    const turn = { workspaces: { [project]: { latest_git_commit_hash: 'abc' } } }
    for (const said of [turn, JSON.stringify(turn)])
      expect(await post('macro_start_session', {}, said, { 'X-Parley-Agent': 'alice' })).toMatchObject({
        agent: { name: 'alice' },
        project: { human_key: project },
      })
    // A folder is only where somebody stands: a call that names another project means it.
    const other = newProject()
    expect(await post('macro_start_session', { human_key: other }, turn)).toMatchObject({
      project: { human_key: other },
    })
  })

  test.each([[{}], ['nonsense'], [{ workspaces: ['/srv/x'] }], [{ workspaces: { relative: {} } }], [7], [null]])(
    'is not believed when it says %j',
    async (turn) => {
      expect(await post('macro_start_session', {}, turn)).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } })
    },
  )

  verifies('identity.tools.optional', 'is not asked for the project by the list of tools', async () => {
    const client = new Client(
      { name: 'codex-mcp-client', version: '0.166.0' },
      { versionNegotiation: { mode: 'legacy' } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(url())))
    onTestFinished(() => client.close())
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'list_agents')?.inputSchema.required ?? []).toEqual([])
    expect((await callTool(url(), 'list_agents')).isError).toBe(true)
  })
})
