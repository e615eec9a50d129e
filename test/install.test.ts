/** `deploy/install.sh`: what it says it would do, and what it does with a tarball and an empty HOME. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { bareHome, pack, run, versionOf } from './support/packed.ts'
import { temporaryFolder } from './support/parley.ts'
import { freePort } from './support/redis-server.ts'
import { root } from './support/sources.ts'
import { verifies } from './support/verifies.ts'

const script = join(root, 'deploy', 'install.sh')

verifies(
  ['deploy.install.dry', 'deploy.install.runs'],
  'a dry run makes nothing; a run installs and serves',
  async () => {
    const folder = await temporaryFolder()
    const env = { ...bareHome(folder), PARLEY_PACKAGE: await pack() }
    const home = join(folder, 'home')
    await mkdir(join(home, '.claude'), { recursive: true })
    const install = (...args: string[]) => run('sh', [script, ...args], { env, cwd: folder })
    expect((await install('--dry-run')).stdout).toContain('Nothing was done')
    expect(await readdir(home)).toEqual(['.claude'])
    // Without PARLEY_PACKAGE the checkout that it stands in.
    const { PARLEY_PACKAGE: _, ...others } = env
    // It is built already.
    const plain = { ...others, npm_config_ignore_scripts: 'true' }
    expect((await run('sh', [script, '--dry-run'], { env: plain, cwd: folder })).stdout).toContain(
      `install ${root} into`,
    )
    // In the folder of a checkout its own program.
    const own = await run('npx', ['parley', '--version'], { env: plain, cwd: root })
    expect(own.stdout).toBe(`${await versionOf(root)}\n`)
    const settings = join(folder, 'settings.env')
    await writeFile(settings, `STORAGE_ROOT="~/apart" # here\nHTTP_BEARER_TOKEN='one-of-the-operator'\n`)
    const other = { env: { ...plain, PARLEY_ENV_FILE: settings }, cwd: folder }
    const apart = (...args: string[]) => run('sh', [script, ...args, '--no-start'], other)
    await expect(apart('--yes', '--token', 'a-token-of-16-or-more')).rejects.toMatchObject({ code: 2 })
    const installed = await apart('--yes')
    // The checkout is linked, as `npm link` does.
    const linked = join(home, '.local', 'bin', 'parley')
    expect((await run(linked, ['--version'], { env: plain })).stdout).toBe(`${await versionOf(root)}\n`)
    expect(installed.stdout).toContain('Token      one-… in the files of settings')
    expect(existsSync(join(home, '.parley', 'operator.token'))).toBe(false)
    expect((await apart('--uninstall', '--yes')).stdout).toContain(`stay in ${join(home, 'apart')}.`)
    await expect(install()).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    await expect(install('--nonsense')).rejects.toMatchObject({ code: 2 })

    const parley = join(home, '.local', 'bin', 'parley')
    onTestFinished(async () => void (await run(parley, ['stop'], { env }).catch(() => {})))
    const port = String(await freePort())
    const { stdout } = await install('--yes', '--port', port)
    const token = (await readFile(join(home, '.parley', 'operator.token'), 'utf8')).trim()
    expect((await stat(join(home, '.parley', 'operator.token'))).mode & 0o777).toBe(0o600)
    expect(stdout).toContain(`Token      ${token.slice(0, 4)}…`)
    expect(stdout).not.toContain(token)
    expect(stdout).toMatch(/To undo it: .*npm uninstall/)
    const [, url = ''] = /ready at (http:\S+)/.exec(stdout) ?? []
    expect(url).toMatch(new RegExp(`:${port}$`))
    expect(await readFile(join(home, '.parley', '.env'), 'utf8')).toBe(`HTTP_PORT=${port}\n`)
    const claude = await readFile(join(home, '.claude.json'), 'utf8')
    expect(JSON.parse(claude)).toMatchObject({ mcpServers: { parley: { url: `${url}/mcp` } } })
    expect((await fetch(`${url}/health/readiness`)).status).toBe(200)

    const { stdout: undone } = await install('--uninstall', '--yes')
    expect(undone).toContain('Mail and the operator')
    expect(undone).toContain(`HTTP_PORT stays in ${join(home, '.parley', '.env')}.`)
    await expect(fetch(`${url}/health/readiness`)).rejects.toThrow()
    expect(existsSync(parley)).toBe(false)
    expect(existsSync(join(home, '.parley', 'operator.token'))).toBe(true)
    expect(existsSync(join(home, '.claude.json'))).toBe(false)
  },
  60_000,
)
