/** `parley init` and files that are not what they seem: links elsewhere, foreign entries, read-only files, keys. */
import { chmodSync, existsSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../support/cli.ts'
import { newUser } from '../support/init.ts'
import { serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

verifies('cli.init.symlinks', 'A link within the home is followed and stays one', async () => {
  const user = await newUser()
  const dotfiles = join(user.home, 'dotfiles', 'claude.json')
  user.put(dotfiles, '{"mine": 1}', 0o600)
  symlinkSync(dotfiles, join(user.home, '.claude.json'))
  const before = user.files()
  expect(await user.init('claude', '--user')).toMatchObject({ code: 0 })
  expect(readlinkSync(join(user.home, '.claude.json'))).toBe(dotfiles)
  expect(user.json(dotfiles)).toMatchObject({ mine: 1, mcpServers: { parley: { type: 'http' } } })
  await user.init('--uninstall', '--user')
  expect(user.files()).toEqual(before)
})

verifies(
  'cli.init.symlinks',
  'A link that leads elsewhere is refused: of a file, of its folder, or planted later',
  async () => {
    const outside = await temporaryFolder()
    const user = await newUser()
    const { home, repository } = user
    const victim = join(outside, 'config.toml')
    user.put(victim, '# theirs\n')
    const refused = async (...args: string[]) => {
      const done = await user.init(...args)
      expect(done).toMatchObject({ code: 1, stdout: expect.stringMatching(/left .*(symlink|changed meanwhile)/) })
      expect(user.read(victim)).toBe('# theirs\n')
    }
    mkdirSync(join(repository, '.codex'))
    symlinkSync(victim, join(repository, '.codex', 'config.toml'))
    await refused('codex')
    rmSync(join(repository, '.codex'), { recursive: true })
    symlinkSync(outside, join(repository, '.codex'))
    await refused('codex')
    expect(existsSync(`${victim}.parley-backup`)).toBe(false)
    rmSync(join(repository, '.codex'))
    await user.init('--uninstall')

    // A file of the shell behind a name that init appends to, though it lies in the home; and a file that is not there.
    user.put(join(home, '.bashrc'), 'alias ll="ls -l"\n')
    symlinkSync(join(home, '.bashrc'), join(repository, 'AGENTS.md'))
    await refused('codex')
    expect(user.read(join(home, '.bashrc'))).toBe('alias ll="ls -l"\n')
    rmSync(join(repository, 'AGENTS.md'))
    symlinkSync(join(repository, 'nowhere.md'), join(repository, 'AGENTS.md'))
    await refused('codex')
    rmSync(join(repository, 'AGENTS.md'))

    // Between init and uninstall.
    await user.init('codex')
    const own = join(repository, '.codex', 'config.toml')
    rmSync(own)
    symlinkSync(victim, own)
    await refused('--uninstall')
  },
)

verifies('cli.init.left', 'A read-only file and an entry of somebody else stay as they are', async () => {
  const user = await newUser()
  const claude = join(user.home, '.claude.json')
  const foreign = '{ "mcpServers": { "parley": { "type": "http", "url": "https://other.example/mcp" } } }\n'
  user.put(claude, foreign)
  const left = await user.init('claude', '--user')
  expect(left).toMatchObject({ code: 1, stdout: expect.stringContaining('mcpServers.parley that init did not write') })
  expect(user.read(claude)).toBe(foreign)
  await user.init('--uninstall', '--user')
  expect(user.read(claude)).toBe(foreign)

  const codex = join(user.home, '.codex', 'config.toml')
  user.put(codex, 'model = "x"\n', 0o444)
  const fixed = await user.init('codex', '--user', '--no-hooks')
  expect(fixed).toMatchObject({ code: 1, stdout: expect.stringContaining('read-only') })
  expect(user.read(codex)).toBe('model = "x"\n')
  chmodSync(codex, 0o600)
  expect(await user.init('codex', '--user', '--no-hooks')).toMatchObject({ code: 0 })

  // An entry that a person has made their own is theirs; what they add beside our lines goes with the entry.
  user.put(codex, user.read(codex).replace('8765', '9999'))
  expect(await user.init('codex', '--user', '--no-hooks')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('changed since'),
  })
  expect(await user.init('--uninstall', '--user')).toMatchObject({ code: 1 })
  expect(user.read(codex)).toContain('9999')
  user.put(codex, `${user.read(codex).replace('9999', '8765')}startup_timeout_sec = 20\n`)
  expect(await user.init('codex', '--user', '--no-hooks', '--agent', 'bob')).toMatchObject({ code: 0 })
  expect(user.read(codex)).toMatch(/"bob"[\s\S]*startup_timeout_sec = 20/)
  expect(await user.init('--uninstall', '--user')).toMatchObject({ code: 0 })
  expect(user.read(codex)).toBe('model = "x"\n')
})

verifies('cli.init.left', 'A record that cannot be read stops init before it writes anything', async () => {
  const user = await newUser()
  user.put(join(user.home, '.parley', 'clients.json'), 'not JSON')
  const before = user.files()
  expect(await user.init('claude')).toMatchObject({ code: 1, stderr: expect.stringContaining('clients.json') })
  expect(user.files()).toEqual(before)
})

verifies(
  ['cli.init.secret', 'cli.join.init'],
  'A stored key stays in its own file: the clients start parley connect',
  async () => {
    const parley = await serveHere()
    const user = await newUser()
    mkdirSync(join(user.home, '.claude'))
    mkdirSync(join(user.home, '.codex'))
    const env = { HTTP_PUBLIC_URL: parley.url }
    const link = (await printedBy(parley, ['invite', 'bob', '--door', 'mail'], { env })).trim().split(' ').at(-1) ?? ''
    const joined = await parleyCommand({ storage: user.home }, ['join', link, '--yes'], {
      cwd: user.home,
      env: { PATH: '' },
    })
    expect(joined).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`made    ${join(user.home, '.claude.json')}`),
    })
    const args = ['-y', 'parley-hub', 'connect', '--server', parley.url, '--agent', 'bob']
    expect(user.json(join(user.home, '.claude.json')).mcpServers.parley).toEqual({
      type: 'stdio',
      command: 'npx',
      args,
    })
    const { key } = user.json(join(user.home, '.parley', 'credentials.json')).servers[parley.url].bob
    const holding = Object.entries(user.files()).filter(([, text]) => text.includes(key))
    expect(holding.map(([path]) => path)).toEqual(['.parley/credentials.json'])
    // The token of the operator is not written down either.
    const token = 'operator-token-of-this-test'
    await user.run(['codex', '--yes', '--allow'], { env: { HTTP_BEARER_TOKEN: token } })
    expect(Object.values(user.files()).some((text) => text.includes(token))).toBe(false)
    // Where the program is on the PATH, that is what a client starts.
    user.put(join(user.home, 'bin', 'parley'), '', 0o755)
    await user.run(['codex', '--user', '--yes', '--server', parley.url], { env: { PATH: join(user.home, 'bin') } })
    expect(user.read(join(user.home, '.codex', 'config.toml'))).toContain('command = "parley"\nargs = ["connect", ')
  },
)
