/** The hooks that `parley init` writes for each client, beside those of others, and without a key in them. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { printedBy } from '../support/cli.ts'
import { newUser } from '../support/init.ts'
import { callTool, serveHere } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

const clients = ['claude', 'codex', 'gemini', 'opencode']
const parley = `${process.execPath} ${join(root, 'bin', 'parley.js')}`
const server = 'http://127.0.0.1:8765'

/** A PATH with curl, and one without. */
const withCurl = { env: { PATH: '/usr/bin:/bin' } }
const without = { env: { PATH: '' } }

const curl = (path: string) =>
  `curl -sf -m 1 --noproxy '*' -H 'Content-Type: application/json' --data-binary @- '${server}/hooks/${path}' || true`

verifies('cli.init.hooks', 'Claude Code gets a waiter that begins turns, and http hooks for its turns', async () => {
  const user = await newUser()
  const project = `&project=${encodeURIComponent(user.repository)}`
  await user.run(['claude', '--agent', 'alice', '--yes'], withCurl)
  const file = join(user.repository, '.claude/settings.local.json')
  const waiter = {
    type: 'command',
    command: `${parley} wait --for claude --server ${server} --agent alice --project '${user.repository}'`,
    asyncRewake: true,
    timeout: 86_400,
  }
  const http = (event: string) => [
    { hooks: [{ type: 'http', url: `${server}/hooks/claude/${event}?agent=alice${project}`, timeout: 1 }] },
  ]
  const command = (event: string) => ({
    type: 'command',
    command: curl(`claude/${event}?agent=alice${project}`),
    timeout: 2,
  })
  expect(user.json(file)).toEqual({
    hooks: {
      SessionStart: [{ hooks: [command('SessionStart'), waiter] }],
      UserPromptSubmit: http('UserPromptSubmit'),
      PostToolUse: http('PostToolUse'),
      Stop: [{ hooks: [waiter] }],
      SessionEnd: [{ hooks: [command('SessionEnd')] }],
    },
  })
  // Another name takes the place of the old one; without a name it comes from the environment, which http hooks have no place for.
  await user.run(['claude', '--yes'], withCurl)
  const { hooks } = user.json(file)
  expect(hooks.Stop).toEqual([{ hooks: [{ ...waiter, command: waiter.command.replace(' --agent alice', '') }] }])
  expect(hooks.UserPromptSubmit[0].hooks[0].command).toContain(`'"\${AGENT_NAME:+&agent=$AGENT_NAME}" || true`)
  // Without curl.
  await user.run(['claude', '--agent', 'alice', '--user', '--yes'], without)
  expect(user.json(join(user.home, '.claude/settings.json')).hooks.SessionStart[0].hooks[0].command).toBe(
    `${parley} hook claude SessionStart --server ${server} --agent alice`,
  )
})

verifies('cli.init.hooks', 'Codex, Gemini CLI and OpenCode get the ways in that they have', async () => {
  const user = await newUser()
  const { home, read, json } = user
  const done = await user.run(['codex', 'gemini', 'opencode', '--agent', 'alice', '--user', '--yes'], withCurl)
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Codex: Trust the hooks') })
  const named = `--server ${server} --agent alice`
  expect(read(join(home, '.codex/config.toml'))).toContain(
    [
      '[[hooks.SessionStart]]',
      '[[hooks.SessionStart.hooks]]',
      'type = "command"',
      `command = "${parley} attach codex ${named}"`,
      'timeout = 5',
      '',
      '[[hooks.UserPromptSubmit]]',
      '[[hooks.UserPromptSubmit.hooks]]',
      'type = "command"',
      `command = "${curl('codex/UserPromptSubmit?agent=alice')}"`,
      'timeout = 2',
      '',
    ].join('\n'),
  )
  const settings = join(home, '.gemini/settings.json')
  const hook = (command: string, timeout: number) => [
    { hooks: [{ type: 'command', name: 'parley', command, timeout }] },
  ]
  expect(json(settings).hooks).toEqual({
    SessionStart: hook(`${parley} attach gemini ${named}`, 5000),
    BeforeAgent: hook(curl('gemini/BeforeAgent?agent=alice'), 2000),
    AfterTool: hook(curl('gemini/AfterTool?agent=alice'), 2000),
    AfterAgent: hook(curl('gemini/AfterAgent?agent=alice'), 2000),
    SessionEnd: hook(curl('gemini/SessionEnd?agent=alice'), 2000),
  })
  await user.run(['gemini', '--agent', 'alice', '--user', '--hold', '--yes'], withCurl)
  expect(json(settings).hooks).toMatchObject({
    SessionStart: hook(curl('gemini/SessionStart?agent=alice'), 2000),
    AfterAgent: hook(`${parley} wait --for gemini ${named}`, 86_400_000),
  })
  const plugin = join(home, '.config/opencode/plugin/parley.js')
  expect(read(plugin)).toContain(
    `"server":"${server}","agent":"alice","credentials":"${home}/.parley/credentials.json"`,
  )
  execFileSync(process.execPath, ['--check', '--input-type=module'], { input: read(plugin) })

  expect(await user.run(['codex', 'gemini', 'opencode', '--user', '--no-hooks', '--yes'])).toMatchObject({ code: 0 })
  expect(read(join(home, '.codex/config.toml'))).not.toContain('hooks')
  expect(json(settings)).not.toHaveProperty('hooks')
  expect(existsSync(plugin)).toBe(false)
})

verifies('cli.init.hooks-foreign', 'and an edit of a person stays theirs', async () => {
  const user = await newUser()
  const file = join(user.home, '.codex', 'config.toml')
  const mine = '[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "date"\n'
  user.put(file, `${mine}\n[hooks.state."x:0"]\ntrusted_hash = "sha256:01"\n`)
  await user.init('codex', '--user', '--agent', 'alice')
  // Codex writes its trust into the file; a person adds a hook, and gives ours another time.
  const trusted = user
    .read(file)
    .replace('[hooks.state."x:0"]', '[hooks.state."parley:0"]\ntrusted_hash = "sha256:02"\n\n$&')
  user.put(file, `${trusted.replace('timeout = 5', 'timeout = 9')}\n${mine.replaceAll('SessionStart', 'Stop')}`)
  const again = await user.init('codex', '--user', '--agent', 'alice')
  expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining('hooks.SessionStart was changed since') })
  expect(await user.init('codex', '--user', '--uninstall')).toMatchObject({ code: 1 })
  const left = user.read(file)
  expect(left).toContain(mine)
  expect(left).toContain(mine.replaceAll('SessionStart', 'Stop'))
  expect(left).toMatch(/"parley:0"[\s\S]*"x:0"[\s\S]*timeout = 9/)
  expect(left).not.toContain('UserPromptSubmit')

  // Hooks that somebody wrote by hand do the same already.
  const settings = join(user.repository, '.claude/settings.local.json')
  const own = { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'parley wait --for claude --agent bob' }] }] } }
  user.put(settings, JSON.stringify(own))
  expect(await user.init('claude', '--agent', 'bob')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('hooks.Stop that init did not write'),
  })
  expect(user.json(settings).hooks.Stop).toEqual(own.hooks.Stop)
  // A list that is written as one value is left alone.
  const codex = join(user.repository, '.codex/config.toml')
  user.put(codex, '[hooks]\nSessionStart = [{ hooks = [] }]\n')
  expect(await user.init('codex')).toMatchObject({ code: 1, stdout: expect.stringContaining('is no list of tables') })
})

verifies('cli.init.hooks-key', 'and the hook works with it', async () => {
  const running = await serveHere()
  const user = await newUser()
  const env = { HTTP_PUBLIC_URL: running.url }
  const link = (await printedBy(running, ['invite', 'bob'], { env })).trim().split(' ').at(-1) ?? ''
  await printedBy({ storage: user.home }, ['join', link, '--yes'], { cwd: user.home, ...without })
  const { key } = user.json(join(user.home, '.parley', 'credentials.json')).servers[running.url].bob
  const before = user.files()
  const done = await user.run([...clients, '--agent', 'bob', '--user', '--yes', '--server', running.url], withCurl)
  expect(done).toMatchObject({ code: 0 })
  const holding = Object.entries(user.files()).filter(([, content]) => content.includes(key))
  const [, kept = ''] = holding.map(([path]) => path)
  expect(holding.map(([path]) => path)).toEqual(['.parley/credentials.json', kept])
  expect(kept).toMatch(/^\.parley\/curl\/bob@/)
  expect(statSync(join(user.home, kept)).mode & 0o777).toBe(0o600)

  await callTool(`${running.url}/agents/ann/mcp`, 'check_mail', {})
  const { hooks } = user.json(join(user.home, '.claude/settings.json'))
  const line = hooks.UserPromptSubmit[0].hooks[0].command
  expect(line).toContain(` -K ${join(user.home, kept)} `)
  const answer = async (command: string) => {
    const child = execFile('/bin/sh', ['-c', command])
    child.stdin?.end('{"session_id":"s"}')
    return child.stdout === null ? '' : await text(child.stdout)
  }
  const start = hooks.SessionStart[0].hooks[0].command
  // 25 ms are little on a machine that runs other tests.
  await expect.poll(() => answer(start), { timeout: 10_000 }).toContain('You are the agent bob')
  // Not without it.
  expect(await answer(start.replace(/ -K \S+/, ''))).toBe('')
  await user.run(['--uninstall', '--user', '--yes'])
  expect(user.files()).toEqual(before)
})
