/** The settings that `parley init` writes for each client: entries, names and projects, scopes, permission, and the block for agents. */
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { clientNames, clientOf } from '../../src/client-settings/clients.ts'
import { parleyCommand } from '../support/cli.ts'
import { newUser } from '../support/init.ts'
import { serveHere } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { gitOutput } from '../support/starter.ts'
import { verifies } from '../support/verifies.ts'

const url = 'http://127.0.0.1:8765/mcp'
/** As Claude Code and Gemini CLI write variables. */
const variable = (name: string) => `\${${name}:-}`
const variables = { 'X-Parley-Agent': variable('AGENT_NAME'), 'X-Parley-Run': variable('PARLEY_RUN') }
const codexRun = 'env_http_headers = { X-Parley-Run = "PARLEY_RUN" }'

verifies('cli.init.entry', 'Each client is told name and project in the way that it can carry', async () => {
  const user = await newUser()
  const { home, repository, json, read } = user
  expect(await user.init('claude', 'codex', 'gemini', 'opencode', 'cursor', 'vscode', '--no-hooks')).toMatchObject({
    code: 0,
  })
  const here = `${url}?project=${encodeURIComponent(repository)}`
  expect(here).toContain('%2Fback%20end')
  expect(json(join(home, '.claude.json')).projects[repository].mcpServers.parley).toEqual({
    type: 'http',
    url: here,
    headers: variables,
  })
  expect(read(join(repository, '.codex/config.toml'))).toBe(`[mcp_servers.parley]\nurl = "${here}"\n${codexRun}\n`)
  expect(json(join(repository, '.gemini/settings.json')).mcpServers.parley).toEqual({
    httpUrl: url,
    headers: variables,
  })
  expect(json(join(repository, 'opencode.json')).mcp.parley).toMatchObject({
    url,
    headers: { 'X-Parley-Agent': '{env:AGENT_NAME}', 'X-Parley-Run': '{env:PARLEY_RUN}' },
  })
  expect(json(join(repository, '.cursor/mcp.json')).mcpServers.parley).toEqual({ url: here })
  expect(json(join(repository, '.vscode/mcp.json')).servers.parley).toEqual({ type: 'http', url: here })

  // With a name it stands there as it is; the project of a user file is only what was asked for.
  const named = ['--user', '--agent', 'bob', '--project', '/srv/日本#1', '--server', 'parley.example:9']
  const all = ['claude', 'codex', 'openclaw', 'cline', 'windsurf', 'copilot']
  expect(await user.init(...all, ...named)).toMatchObject({ code: 0 })
  const there = 'http://parley.example:9/mcp?project=%2Fsrv%2F%E6%97%A5%E6%9C%AC%231'
  const headers = { 'X-Parley-Agent': 'bob' }
  expect(json(join(home, '.claude.json')).mcpServers.parley).toEqual({
    ...{ type: 'http', url: there },
    headers: { ...headers, 'X-Parley-Run': variable('PARLEY_RUN') },
  })
  expect(read(join(home, '.codex/config.toml'))).toContain(
    `url = "${there}"\nhttp_headers = { X-Parley-Agent = "bob" }\n${codexRun}`,
  )
  expect(json(join(home, '.openclaw/openclaw.json')).mcp.servers.parley).toEqual({
    url: there,
    transport: 'streamable-http',
    headers,
  })
  const cline = join(home, '.cline/data/settings/cline_mcp_settings.json')
  expect(json(cline).mcpServers.parley).toMatchObject({ type: 'streamableHttp', url: there, headers })
  const movedTo = (env: Record<string, string>) =>
    clientOf('cline').user({ home: '/home', folder: '/work', env, platform: 'linux' }).file
  expect(movedTo({ CLINE_DIR: '/cline' })).toBe('/cline/data/settings/cline_mcp_settings.json')
  expect(movedTo({ CLINE_DATA_DIR: '/data' })).toBe('/data/settings/cline_mcp_settings.json')
  expect(json(join(home, '.codeium/windsurf/mcp_config.json')).mcpServers.parley).toEqual({ serverUrl: there, headers })
  expect(json(join(home, '.copilot/mcp-config.json')).mcpServers.parley).toMatchObject({ url: there, tools: ['*'] })
})

verifies('cli.init.entry', 'The settings of a client connect it to the running server', async () => {
  const parley = await serveHere()
  const user = await newUser()
  const { code, stdout } = await user.init('codex', '--server', parley.url)
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Still to do:') })
  const [, written = ''] = /url = "(.*)"/.exec(user.read(join(user.repository, '.codex/config.toml'))) ?? []
  const response = await fetch(written, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  expect(await response.text()).toContain('macro_start_session')
})

verifies('cli.init.running', 'A server of another store that answers at the URL need not be started', async () => {
  const { port } = new URL((await serveHere()).url)
  const user = await newUser()
  const told = async (at: string) =>
    (await user.run(['codex', '--dry-run', '--json'], { env: { HTTP_PORT: at } })).stdout
  expect(await told(port)).not.toContain('Start the server')
  expect(await told('1')).toContain('Start the server')
})

verifies(['cli.init.scope', 'cli.init.finds'], 'In a repository git sees none of it but the block', async () => {
  const user = await newUser()
  const { home, repository } = user
  for (const trace of ['.claude', '.codex', '.openclaw', '.codeium/windsurf'])
    mkdirSync(join(home, trace), { recursive: true })
  const { code, stdout } = await user.init()
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      'OpenClaw, Windsurf: user files alone. Set up by: parley init openclaw windsurf --user',
    ),
  })
  const git = (...args: string[]) => gitOutput(args, { cwd: repository })
  const changed = (await git('status', '--short', '-uall')).split('\n').filter(Boolean).sort()
  expect(changed).toEqual(['?? AGENTS.md', '?? CLAUDE.md'])
  expect(existsSync(join(home, '.openclaw/openclaw.json'))).toBe(false)

  // From a folder below it is the same repository; outside of one it is the user.
  mkdirSync(join(repository, 'pkg'))
  const again = await user.run(['--yes', '--json'], { cwd: join(repository, 'pkg') })
  expect(JSON.parse(again.stdout)).toMatchObject({ scope: 'here', folder: repository, clients: ['claude', 'codex'] })
  const outside = await user.run(['--yes', '--json'], { cwd: home })
  expect(JSON.parse(outside.stdout)).toMatchObject({
    scope: 'user',
    clients: ['claude', 'codex', 'openclaw', 'windsurf'],
  })
  expect(await user.run(['claude', '--user', '--here'])).toMatchObject({ code: 2 })
  expect(await user.run(['emacs'])).toMatchObject({ code: 2 })
  expect(await user.run(['cursor'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect(await user.run(['claude', '--agent', 'not a name'])).toMatchObject({ code: 1 })

  // Settings that git shares are not touched.
  user.put(join(repository, '.cursor/mcp.json'), '{}\n')
  await git('add', '.cursor/mcp.json')
  const shared = await user.init('cursor')
  expect(shared).toMatchObject({ code: 1, stdout: expect.stringContaining('git shares it') })
  expect(user.read(join(repository, '.cursor/mcp.json'))).toBe('{}\n')
})

verifies('cli.init.allow', 'Tools are allowed when that was asked for, and no longer when it was not', async () => {
  const user = await newUser()
  const { home, repository, json, read } = user
  const settings = join(repository, '.claude/settings.local.json')
  user.put(settings, '{ "permissions": { "allow": ["Bash(ls:*)"] } }\n')
  const names = ['claude', 'codex', 'gemini', 'opencode', '--no-hooks']
  await user.init(...names)
  expect(json(settings).permissions.allow).toEqual(['Bash(ls:*)'])
  expect(await user.init(...names, '--allow')).toMatchObject({ code: 0 })
  expect(json(settings).permissions.allow).toEqual(['Bash(ls:*)', 'mcp__parley__*'])
  expect(read(join(repository, '.codex/config.toml'))).toContain('default_tools_approval_mode = "approve"')
  expect(json(join(repository, '.gemini/settings.json')).mcpServers.parley.trust).toBe(true)
  expect(json(join(repository, 'opencode.json')).permission).toEqual({ 'parley_*': 'allow' })
  await user.init(...names)
  expect(json(settings)).toEqual({ permissions: { allow: ['Bash(ls:*)'] } })
  expect(read(join(repository, '.codex/config.toml'))).not.toContain('approve')
  expect(json(join(repository, '.gemini/settings.json')).mcpServers.parley).not.toHaveProperty('trust')
  expect(json(join(repository, 'opencode.json'))).not.toHaveProperty('permission')
  expect(existsSync(join(home, '.claude/settings.json'))).toBe(false)
  // Permission that is written otherwise stays; the server is set up all the same.
  user.put(join(home, '.config/opencode/opencode.jsonc'), '{ "permission": "ask" } // mine\n')
  const other = await user.init('opencode', '--user', '--allow')
  expect(other).toMatchObject({ code: 1, stdout: expect.stringContaining('permission is no object') })
  expect(read(join(home, '.config/opencode/opencode.jsonc'))).toMatch(/"permission": "ask", "mcp":.*8765.* \/\/ mine/)
})

verifies('cli.init.block', 'Files that are one get one block, and it comes out to the byte', async () => {
  const user = await newUser()
  const { repository, read } = user
  const file = (name: string) => join(repository, name)
  user.put(file('AGENTS.md'), '# Ours\r\n\r\nBe kind.')
  symlinkSync('AGENTS.md', file('CLAUDE.md'))
  const before = user.files()
  await user.init('claude', 'codex')
  expect(read(file('AGENTS.md')).match(/parley:begin mail/g)).toHaveLength(1)
  expect(read(file('AGENTS.md'))).toMatch(/Be kind\.\r\n\r\n<!-- parley:begin mail [^\n]*\r\n## Coordination/)
  // The other client still has it.
  await user.init('codex', '--uninstall')
  expect(read(file('AGENTS.md'))).toContain('parley:begin')
  await user.init('--uninstall')
  expect(user.files()).toEqual(before)

  // A CLAUDE.md that takes AGENTS.md in needs none of its own.
  rmSync(file('CLAUDE.md'))
  user.put(file('CLAUDE.md'), '@AGENTS.md\n')
  await user.init('claude')
  expect([read(file('CLAUDE.md')), read(file('AGENTS.md')).includes('parley:begin')]).toEqual(['@AGENTS.md\n', true])
  // A block that came by git, from an init of somebody else, serves as well.
  const other = await newUser()
  other.put(join(other.repository, 'AGENTS.md'), read(file('AGENTS.md')).replace('## Coordination', '## Older words'))
  const theirs = other.read(join(other.repository, 'AGENTS.md'))
  expect(await other.init('codex')).toMatchObject({ code: 0 })
  await other.init('--uninstall')
  expect(other.read(join(other.repository, 'AGENTS.md'))).toBe(theirs)
  // A person's words in the block stay.
  user.put(file('AGENTS.md'), read(file('AGENTS.md')).replace('## Coordination', '## Our coordination'))
  expect(await user.init('--uninstall')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('changed since init'),
  })
  expect(read(file('AGENTS.md'))).toContain('## Our coordination')
})

verifies('cli.init.docs', 'The entries of the docs are those that init writes', async () => {
  const user = await newUser()
  await user.init(...clientNames, '--user')
  const page = user.read(join(root, 'docs/clients.md'))
  for (const name of clientNames) {
    const { title, user: siteOf, byHand } = clientOf(name)
    const [, shown = ''] = new RegExp(`^\\| ${title} \\| \`([^\`]+)\``, 'm').exec(page) ?? []
    const { file, format } = siteOf({ home: user.home, folder: user.repository, env: {}, platform: 'linux' })
    if (byHand === undefined) expect(user.json(file), title).toEqual(JSON.parse(shown))
    else expect([shown.includes(url), user.read(file).includes(url)], `${title} ${format}`).toEqual([true, true])
  }
  expect(user.read(join(root, 'README.md'))).toContain('claude mcp add --scope user --transport http parley')
  const block = user.read(join(user.home, '.claude/CLAUDE.md')).split('\n').slice(1, -2).join('\n')
  expect(user.read(join(root, 'docs/agents-md.md'))).toContain(block)
})

verifies('cli.status.clients', 'status names the clients as long as their settings have the server', async () => {
  const user = await newUser()
  const status = async () =>
    JSON.parse((await parleyCommand({ storage: user.home }, ['status', '--json'], { cwd: user.home })).stdout).clients
  expect(await status()).toEqual([])
  await user.init('claude', 'codex', '--user')
  await user.init('codex')
  expect(await status()).toEqual([
    { client: 'claude', scope: 'user' },
    { client: 'codex', scope: 'user' },
    { client: 'codex', scope: user.repository },
  ])
  user.put(join(user.home, '.claude.json'), `\ufeff${user.read(join(user.home, '.claude.json'))}`)
  expect(await status()).toHaveLength(3)
  user.put(join(user.home, '.claude.json'), '{}')
  expect(await status()).toHaveLength(2)
  const shown = await parleyCommand({ storage: user.home }, ['status'], { cwd: user.home })
  expect(shown.stdout).toContain(`codex (user); codex (${user.repository})`)
})
