/** The files of deploy/: every variable in them is a setting, and the tools of their owners accept them. */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Stage, stagesOf, wordsOf } from '../../scripts/image/dockerfile.ts'
import { settings } from '../../src/settings/all.ts'
import { parleyCommand } from '../support/cli.ts'
import { startParley, temporaryFolder } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

const folder = join(root, 'deploy')
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8')

/** Variables of others: the database's image, the compose file, the C library, the script that installs. */
const others = new Set([
  'MALLOC_ARENA_MAX',
  'MALLOC_MMAP_THRESHOLD_',
  'POSTGRES_USER',
  'POSTGRES_PASSWORD',
  'POSTGRES_DB',
  'DB_PASSWORD',
  'PROXY_PORT',
  'GF_SECURITY_ADMIN_PASSWORD',
  'GRAFANA_PASSWORD',
  'GRAFANA_PORT',
  'PARLEY_PACKAGE',
  'HOME',
])

/** `NAME=value`, `NAME: value`, `${NAME…}` and `name: NAME` of a file, comments included. */
const variables = (text: string): string[] =>
  [...text.matchAll(/\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?=[=:}]|,? value| |,|\n|\)|$)/g)].map(([, name = '']) => name)

verifies('deploy.files.settings', 'every variable in the files is a setting of Parley', () => {
  const files = globSync('{Dockerfile,compose.yaml,env/*,systemd/*,kubernetes/*,nginx/*,caddy/*}', { cwd: folder })
  expect(files.length).toBeGreaterThan(6)
  const unknown = files.flatMap((file) =>
    variables(textOf(file))
      .filter((name) => !(name in settings) && !others.has(name) && !/^(AF|CMD)_/.test(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(unknown).toEqual([])
})

verifies('deploy.image.bare', 'its instructions are known, and its commands need no shell', () => {
  const stages = stagesOf(textOf('Dockerfile'))
  const { steps, meta } = stages.at(-1) as Stage
  expect(steps.filter(({ instruction }) => instruction === 'USER')).toEqual([{ instruction: 'USER', text: 'node' }])
  expect([meta.ENTRYPOINT, meta.CMD, meta.HEALTHCHECK].flatMap(wordsOf)).toEqual([
    'parley',
    'serve',
    'parley',
    'health',
  ])
  expect(() => wordsOf('CMD parley serve')).toThrow('shell')
  expect(() => stagesOf('FROM node:24\nADD x y\n')).toThrow('does not know ADD')
  for (const { base } of stages) expect(base).toMatch(/^node:24-/)
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasSystemd) process.stderr.write('skipped: systemd-analyze is not on this machine\n')

describe.skipIf(!hasSystemd)('The systemd unit', () => {
  test('is sound, and gives the program little that it could harm', () => {
    const unit = join(folder, 'systemd', 'parley.service')
    const sound = spawnSync('systemd-analyze', ['verify', unit, join(folder, 'systemd', 'parley.socket')], {
      encoding: 'utf8',
    })
    expect([sound.status, sound.stderr]).toEqual([0, ''])
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit], { encoding: 'utf8' })
    expect(Number(/exposure level for parley\.service: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThan(3)
  })
})

verifies('cli.health.code', 'a server that is ready, one that is not there, and one on any free port', async () => {
  const storage = await temporaryFolder()
  const health = (env: Record<string, string> = {}) => parleyCommand({ storage }, ['health', '--json'], { env })
  expect(await health({ HTTP_PORT: '0' })).toMatchObject({ code: 1, stdout: expect.stringContaining('no server runs') })
  expect(await health({ HTTP_PORT: '9' })).toMatchObject({ code: 1, stdout: expect.stringContaining('no answer') })
  const { url, port } = await startParley({ storage })
  for (const asked of ['0', String(port)]) {
    const { code, stdout } = await health({ HTTP_PORT: asked })
    expect([code, JSON.parse(stdout)]).toEqual([0, { url, ready: true, status: 'ready' }])
  }
})
