/** `deploy/install.sh --system`, with its files below a folder, and an npm and an `id` that only pretend. */
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { expect } from 'vitest'
import { run } from '../support/packed.ts'
import { temporaryFolder } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

/** It "installs" a parley that tells its version, and takes it out. */
const npm = `#!/bin/sh
prefix=$4
if [ "$1" = uninstall ]; then rm "$prefix/bin/parley"; exit; fi
mkdir -p "$prefix/bin"
printf '#!/bin/sh\\necho 9.9.9\\n' >"$prefix/bin/parley"
chmod 755 "$prefix/bin/parley"
`

async function machine() {
  const folder = await temporaryFolder()
  const [path, image] = [join(folder, 'path'), join(folder, 'image')]
  await mkdir(path)
  await mkdir(join(image, 'etc', 'logrotate.d'), { recursive: true })
  for (const [name, text] of [
    ['npm', npm],
    ['id', '#!/bin/sh\necho 1000\n'],
  ] as const) {
    await writeFile(join(path, name), text)
    await chmod(join(path, name), 0o755)
  }
  const PATH = [path, dirname(process.execPath), process.env.PATH].join(delimiter)
  const install = (args: string[], env: Record<string, string> = { DESTDIR: image }) =>
    run('sh', [join(root, 'deploy', 'install.sh'), '--system', ...args], { env: { PATH, HOME: folder, ...env } })
  const text = (file: string) => readFile(join(image, file), 'utf8')
  return { image, install, text }
}

verifies(
  'deploy.install.system',
  'user, folders, unit and settings; again it changes nothing of the settings',
  async () => {
    const { image, install, text } = await machine()
    const untouched = await readdir(image, { recursive: true })
    expect((await install(['--dry-run'])).stdout).toContain('Nothing was done')
    expect(await readdir(image, { recursive: true })).toEqual(untouched)
    await expect(install([], {})).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('sudo') })
    for (const wrong of [
      ['--public-url', 'ftp://x'],
      ['--public-url', 'https://x y'],
      ['--dir', 'here'],
      ['--nonsense'],
    ])
      await expect(install(wrong), wrong.join(' ')).rejects.toMatchObject({ code: 2 })

    const { stdout } = await install(['--dir', '/opt/parley', '--public-url', 'https://hub.example:8443'])
    expect(stdout).toContain('(9.9.9)')
    const settings = await text('etc/parley.env')
    const secrets = [...settings.matchAll(/^(?:HTTP_BEARER_TOKEN|SECRET_KEY)=([0-9a-f]{64})$/gm)].map(([, hex]) => hex)
    expect(new Set(secrets).size).toBe(2)
    expect(settings).toMatch(/^HTTP_PUBLIC_URL=https:\/\/hub\.example:8443$/m)
    for (const secret of secrets) expect(stdout).not.toContain(secret)
    const modes = ['etc/parley.env', 'var/lib/parley'].map(async (file) => (await stat(join(image, file))).mode & 0o777)
    expect(await Promise.all(modes)).toEqual([0o600, 0o700])
    const unit = await text('etc/systemd/system/parley.service')
    expect(unit).toMatch(/^ExecStart=\/opt\/parley\/bin\/parley serve$/m)
    expect(unit).toContain(`Environment=PATH=${dirname(process.execPath)}:`)
    const command = await text('opt/parley/bin/parley-service')
    expect(command).toMatch(
      /--uid=parley .*EnvironmentFile=\/etc\/parley\.env .*STORAGE_ROOT=\/var\/lib\/parley \/opt\/parley\/bin\/parley "\$@"\n$/s,
    )
    expect((await run('sh', ['-n', join(image, 'opt/parley/bin/parley-service')], { env: {} })).stderr).toBe('')
    expect(await text('etc/logrotate.d/parley')).toBe(await readFile(join(root, 'deploy/logrotate/parley'), 'utf8'))

    await writeFile(join(image, 'etc/parley.env'), 'SECRET_KEY=of-mine\n')
    await install(['--dir', '/opt/parley'])
    expect(await text('etc/parley.env')).toBe('SECRET_KEY=of-mine\n')
    expect(await text('etc/systemd/system/parley.service')).toBe(unit)

    await install(['--uninstall', '--dir', '/opt/parley'])
    const gone = [
      'etc/systemd/system/parley.service',
      'etc/logrotate.d/parley',
      'opt/parley/bin/parley',
      'opt/parley/bin/parley-service',
    ]
    expect(gone.filter((file) => existsSync(join(image, file)))).toEqual([])
    expect(['etc/parley.env', 'var/lib/parley'].filter((file) => !existsSync(join(image, file)))).toEqual([])
  },
)

verifies('deploy.install.system', 'without an address, the settings name none', async () => {
  const { install, text } = await machine()
  expect((await install([])).stdout).toContain('set HTTP_PUBLIC_URL')
  expect(await text('etc/parley.env')).toMatch(/^#HTTP_PUBLIC_URL=https:\/\/parley\.example$/m)
})
