/** The published package: what `npm pack` puts into it, and that it runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Locked } from '../scripts/lock-file.ts'
import { plainMail } from './support/mail.ts'
import { bareHome, installed, run, versionOf } from './support/packed.ts'
import { temporaryFolder, temporaryRepository } from './support/parley.ts'
import { drawing } from './support/pictures.ts'
import { root } from './support/sources.ts'
import { verifies } from './support/verifies.ts'

verifies(
  ['all.package.runs', 'all.package.docs', 'all.package.no-sharp'],
  'the package holds the launcher, the built program and its docs, and runs where nothing else is installed',
  async () => {
    const folder = await temporaryFolder()
    const { prefix, home, files, env, parley } = await installed(folder)
    expect(files).toEqual(
      expect.arrayContaining(['bin/parley.js', 'dist/main.js', 'dist/licenses.txt', 'LICENSE', 'package.json']),
    )
    expect(files).toEqual(expect.arrayContaining(docsNamed()))
    expect(await readdir(join(prefix, 'share', 'man', 'man1'))).toEqual(['parley.1'])
    expect(files.filter((file) => file.startsWith('node_modules/'))).toEqual([])
    const strange =
      /^(?!(bin|dist)\/.*\.js$|dist\/app\/assets\/[a-z]+\.(css|svg)$|docs\/([a-z-]+\.md|parley\.1)$|(dist\/(licenses\.txt|sbom\.cdx\.json)|LICENSE|README\.md|setup_prompt\.md|package\.json)$)|\.test\.js$/
    expect(files.filter((file) => strange.test(file))).toEqual([])
    expect(
      files.map((file) => [file, statSync(join(home, file)).size] as const).filter(([, size]) => size > 3e6),
    ).toEqual([])
    const placed = files.filter((file) => readFileSync(join(home, file), 'latin1').includes(root))
    expect(placed).toEqual([])
    const named = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/moduleBeside\(import\.meta\.url, '(.+?)'\)/g)].map(
        ([, name]) => name,
      ),
    )
    expect(named).not.toEqual([])
    expect(files).toEqual(expect.arrayContaining(named.map((name) => `dist/app/${name}.js`)))

    // One file, which is loaded where a URL of a Redis is set: threads and commands do not pay for it.
    const withRedis = globSync('dist/**/*.js.map', { cwd: root }).filter((map) =>
      readFileSync(join(root, map), 'utf8').includes('node_modules/@redis/client/'),
    )
    expect(withRedis).toEqual([expect.stringMatching(/redis-[\w-]+\.js\.map$/)])

    const version = await versionOf(root)
    for (const name of ['parley', 'parley-hub'])
      expect(await run(join(prefix, 'bin', name), ['--version'], { env })).toMatchObject({
        stdout: `${version}\n`,
        stderr: '',
      })

    const serving = spawn(parley, ['serve', '--port', '0'], {
      env: { ...env, LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = once(serving, 'exit')
    onTestFinished(async () => {
      serving.kill()
      await gone
    })
    let said = ''
    serving.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const urlIn = (text: string) => /ready at (http:\/\/[^\s]+)/.exec(text)?.[1]
    await expect.poll(() => urlIn(said), { timeout: 30_000 }).toBeDefined()
    const url = urlIn(said) ?? ''
    const { call } = plainMail({ url })
    const place = { project_key: '/srv/package' }
    await call('register_agent', { ...place, program: 'npm', model: 'none', name: 'BlueLake' })
    await call('send_message', {
      ...place,
      sender_name: 'BlueLake',
      to: ['BlueLake'],
      subject: 'Plan',
      body_md: '`pineapple`',
    })
    expect(JSON.stringify(await call('search_messages', { ...place, query: 'pineapple' }))).toContain('Plan')
    const page = await (await fetch(`${url}/mail`, { headers: { accept: 'text/html' } })).text()
    const assets = [...page.matchAll(/(?:href|src)="(\/mail\/assets\/[^"#]+)/g)].map(([, path = '']) => path)
    const beside = (name: string) => assets.find((path) => path.endsWith('page.js'))?.replace('page.js', name) ?? ''
    for (const path of [...assets, beside('live.js'), beside('idiomorph.js'), beside('hotkey.js')])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200])
    expect(assets.length).toBeGreaterThan(2)
    for (const path of ['/mail/projects', '/mail/attention', '/mail/search?q=pineapple', '/docs', '/openapi.json'])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200])

    const repository = await temporaryRepository()
    await writeFile(join(repository, 'flow.png'), await drawing(4, 3).png().toBuffer())
    await call('register_agent', { project_key: repository, program: 'npm', model: 'none', name: 'BlueLake' })
    const pictured = call('send_message', {
      project_key: repository,
      sender_name: 'BlueLake',
      to: ['BlueLake'],
      subject: 'Flow',
      body_md: '![flow](flow.png)',
    })
    await expect(pictured).rejects.toMatchObject({ message: expect.stringContaining('without the package sharp') })
    const calling = { ...env, PARLEY_SERVER: url }
    for (const command of ['bus', 'mailbox', 'connect'])
      expect([command, await toolsOf(parley, command, calling)]).not.toEqual([command, []])

    const { stdout: plan } = await run(parley, ['init', 'claude', '--dry-run'], { env, cwd: repository })
    expect(plan).toContain('mcpServers')
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await run(parley, ['completions', shell], { env })).stdout).toContain('file_reservations')
  },
  120_000,
)

const isRoot = process.getuid?.() === 0
if (!isRoot) process.stderr.write('skipped: only root can become a user who may not write the checkout\n')

describe.skipIf(!isRoot)('A user who may not write the checkout', () => {
  const nobody = { uid: 65_534, gid: 65_534 }

  test('packs it, installs it into a folder of their own, and runs it', async () => {
    const folder = await temporaryFolder()
    const env = bareHome(folder)
    await mkdir(join(folder, 'home'))
    await run('chown', ['-R', String(nobody.uid), folder])
    await run('npm', ['pack', '--pack-destination', folder], { cwd: root, env, ...nobody })
    const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
    const prefix = join(folder, 'prefix')
    await run('npm', ['install', '--global', '--prefix', prefix, join(folder, tarball)], {
      cwd: folder,
      env,
      ...nobody,
    })
    const parley = join(prefix, 'bin', 'parley')
    const parleyOf = (...args: string[]) => run(parley, args, { cwd: folder, env, ...nobody })
    const { stdout } = await parleyOf('serve', '--detach', '--port', '0')
    const [, url = ''] = /ready at (http:\S+)/.exec(stdout) ?? []
    expect((await fetch(`${url}/health/readiness`)).status).toBe(200)
    await parleyOf('stop')
  })
})

/** The tools that an MCP client is offered on stdin and stdout. */
async function toolsOf(parley: string, command: string, env: Record<string, string>): Promise<string[]> {
  const client = new Client({ name: 'parley-test', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: parley, args: [command], env }))
  const { tools } = await client.listTools()
  await client.close()
  return tools.map(({ name }) => name)
}

/** The pages that messages of the program name. */
const docsNamed = (): string[] => [
  ...new Set(
    globSync('src/**/!(*.test).ts', { cwd: root }).flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\bdocs\/[a-z-]+\.md/g)].map(([name]) => name),
    ),
  ),
]

verifies('all.package.size', 'an installation with its optional package takes at most 60 MB', async () => {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked & { dependencies?: object; devOptional?: boolean }>
  }
  expect(packages['']).not.toHaveProperty('dependencies')
  const beside = Object.entries(packages).filter(([, { optional, dev }]) => optional && !dev)
  const places = [...beside.map(([place]) => place), 'bin', 'docs', 'dist']
  const bytes = places
    .flatMap((place) => globSync(`${place}/**`, { cwd: root }))
    .filter((file) => !file.endsWith('.map'))
    .reduce((sum, file) => sum + (statSync(join(root, file)).isFile() ? statSync(join(root, file)).size : 0), 0)
  expect(bytes).toBeGreaterThan(20_000_000)
  expect(bytes).toBeLessThan(60_000_000)
})
