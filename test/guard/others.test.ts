/** The guard in repositories whose hooks husky and lefthook write: the programs themselves, as their packages bring them. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { reservedRepository, tried } from '../support/guard.ts'
import { shareServer } from '../support/parley.ts'
import { root } from '../support/sources.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const open = () => reservedRepository(parley())
const run = promisify(execFile)

const home = join(root, 'test/guard/others')
const programs = join(home, 'node_modules/.bin')

// No scripts: lefthook's would put hooks into this repository.
beforeAll(async () => {
  if (!existsSync(programs)) await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: home })
}, 120_000)

/** With the environment of a person's shell, and a Node for those that are scripts. */
const start = (program: string, args: string[], cwd: string) =>
  run(join(programs, program), args, {
    cwd,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: cwd },
  })

verifies(['mail.guard.chains', 'mail.guard.restores'], "husky's hook goes on running", async () => {
  const repository = await open()
  const { git, folder, write, commit, install, uninstall, read } = repository
  await start('husky', [], folder)
  expect(await git('config', 'core.hooksPath')).toBe('.husky/_')
  await write({ '.husky/pre-commit': 'echo husky ran\n[ ! -e refused ]\n' })
  const before = await read('.husky/_/pre-commit')
  await install(folder)
  await write({ other: '1' })
  expect(await commit('BlueLake')).toEqual({ code: 0, said: 'husky ran\n' })
  expect(await tried(repository)).toEqual([1, 0])
  await write({ refused: '1' })
  expect(await commit('BlueLake')).toMatchObject({ code: 1, said: expect.stringContaining('script failed (code 1)') })
  await uninstall(folder)
  expect(await read('.husky/_/pre-commit')).toBe(before)
  expect((await git('status', '--porcelain')).split('\n')).toEqual(['A  refused'])
})

verifies(
  'mail.guard.chains',
  'husky writes over the guard when it is installed again, and `guard status` tells',
  async () => {
    const repository = await open()
    const { folder, install } = repository
    await start('husky', [], folder)
    await install(folder)
    const status = () => parleyCommand(parley(), ['guard', 'status', folder])
    expect(await status()).toMatchObject({ code: 0 })
    await start('husky', [], folder)
    expect(await status()).toMatchObject({ code: 1 })
    expect(await tried(repository)).toEqual([0, 0])
    await install(folder)
    expect(await tried(repository)).toEqual([1, 0])
  },
)

verifies(['mail.guard.chains', 'mail.guard.restores'], "lefthook's hook goes on running", async () => {
  const repository = await open()
  const { folder, write, commit, install, uninstall, read } = repository
  await write({ 'lefthook.yml': 'pre-commit:\n  commands:\n    check:\n      run: echo it ran; [ ! -e refused ]\n' })
  await start('lefthook', ['install'], folder)
  const before = await read('.git/hooks/pre-commit')
  await install(folder)
  const found = { LEFTHOOK_BIN: join(programs, 'lefthook'), PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  await write({ other: '1' })
  expect(await commit('BlueLake', found)).toMatchObject({ code: 0, said: expect.stringContaining('it ran') })
  // Its own switch is none of the guard's.
  await write({ 'held/x': '1' })
  expect((await commit('BlueLake', { ...found, LEFTHOOK: '0' })).code).toBe(1)
  await repository.git('reset', '-q', '--hard')
  expect(await tried(repository)).toEqual([1, 0])
  await write({ refused: '1' })
  expect((await commit('BlueLake', found)).code).toBe(1)
  await uninstall(folder)
  expect(await read('.git/hooks/pre-commit')).toBe(before)
})
