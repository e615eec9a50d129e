/** Where guards are installed: worktrees, submodules, other folders of hooks, and beside the hooks of others. */
import { chmod, lstat, readdir, readlink, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findRepository } from '../../src/guard/repository.ts'
import {
  attempts,
  guardedProject,
  guardedRepository,
  type Repository,
  repositoryAt,
  reservedRepository,
  tried,
  writeHook,
} from '../support/guard.ts'
import { shareServer, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

const open = () => reservedRepository(parley())

verifies(
  'mail.guard.places',
  'worktrees are guarded with their repository, wherever it was installed from',
  async () => {
    const main = await guardedRepository(parley())
    await main.reserve('GreenCastle', ['held/**'])
    const folder = join(await temporaryFolder(), 'linked')
    await main.git('worktree', 'add', '-q', folder)
    const linked = await repositoryAt(folder, { fresh: false })
    expect(await tried(linked)).toEqual([1, 0])
    await main.uninstall(folder)
    expect(await tried(linked)).toEqual([0, 0])
    await main.install(folder)
    expect(await tried(linked)).toEqual([1, 0])
    expect(await tried(main)).toEqual([1, 0])
  },
)

verifies('mail.guard.places', 'a submodule is a part of the project that it lies in', async () => {
  const { git, folder, install, reserve } = await open()
  const library = await repositoryAt(join(await temporaryFolder(), 'library'))
  await git('-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', library.folder, 'libs/one')
  await reserve('GreenCastle', ['libs/one/held/**'])
  const submodule = await repositoryAt(join(folder, 'libs/one'), { fresh: false })
  expect(await install(submodule.folder)).toBe(`${join(folder, '.git/modules/libs/one/hooks/pre-commit')}\n`)
  expect(await tried(submodule)).toEqual([1, 0])
})

verifies('mail.guard.places', 'a project may be a part of a repository', async () => {
  const repository = await repositoryAt(join(await temporaryFolder(), 'mono'))
  await repository.write({ 'packages/api/readme': '1' })
  const key = join(repository.folder, 'packages/api')
  const { install, reserve } = await guardedProject(parley(), key)
  await reserve('GreenCastle', ['held/**'])
  await install(key)
  // `held/x` at the top is no file of the project.
  expect(await tried(repository)).toEqual([0, 0])
  await repository.write({ 'packages/api/held/x': '1' })
  expect((await repository.commit('BlueLake')).code).toBe(1)
})

verifies('mail.guard.places', 'core.hooksPath names the folder, in the repository or shared with others', async () => {
  const { git, folder, install, uninstall, ...repository } = await open()
  await git('config', 'core.hooksPath', '.githooks')
  expect(await install(folder)).toBe(`${join(folder, '.githooks/pre-commit')}\n`)
  expect(await tried({ ...repository, git, folder })).toEqual([1, 0])
  await uninstall(folder)

  const hooks = join(await temporaryFolder(), 'hooks')
  const other = await open()
  for (const each of [git, other.git]) await each('config', 'core.hooksPath', hooks)
  await install(folder)
  // The other one has no guard yet, and its commits are its own affair.
  expect(await tried(other)).toEqual([0, 0])
  await other.install(other.folder)
  expect(await tried(other)).toEqual([1, 0])
  await uninstall(folder)
  expect(await tried({ ...repository, git, folder })).toEqual([0, 0])
  expect(await tried(other)).toEqual([1, 0])
  await other.uninstall(other.folder)
  expect(await readdir(hooks)).toEqual([])
})

describe('A hook that is there', () => {
  verifies(
    ['mail.guard.chains', 'mail.guard.restores'],
    'runs after the guard and is left as it was',
    async () => {
      for (const text of [
        '#!/bin/sh\necho it ran',
        '#!/bin/sh -eu\necho it ran\n',
        '#!/usr/bin/env bash\n[[ -n x ]] && echo it ran\n',
        'echo it ran\n',
        '#!/bin/sh\r\n# \xff\xfe bytes\necho it ran #\r\n'.replace('sh\r', 'sh'),
        '#!/usr/bin/env node\nconsole.log("it ran")\n',
        '#!/usr/bin/env perl\nprint "it ran\\n";\n',
      ]) {
        const repository = await open()
        await writeHook(repository.hook, text, 0o751)
        await repository.install(repository.folder)
        await repository.install(repository.folder)
        const { held, free } = await attempts(repository)
        expect([text, held.code, free]).toEqual([text, 1, { code: 0, said: expect.stringContaining('it ran') }])
        await repository.uninstall(repository.folder)
        expect(await repository.read('.git/hooks/pre-commit')).toBe(text)
        expect((await stat(repository.hook)).mode & 0o777).toBe(0o751)
        expect(await beside(repository)).toEqual(['pre-commit'])
      }
    },
    60_000,
  )

  verifies(['mail.guard.chains', 'mail.guard.restores'], 'may be a link, which stays one', async () => {
    const repository = await open()
    await repository.write({ 'tools/check.sh': '#!/bin/sh\necho linked\n' })
    await chmod(join(repository.folder, 'tools/check.sh'), 0o755)
    await symlink('../../tools/check.sh', repository.hook)
    await repository.install(repository.folder)
    expect((await repository.commit('BlueLake')).said).toBe('linked\n')
    expect(await tried(repository)).toEqual([1, 0])
    await repository.uninstall(repository.folder)
    expect((await lstat(repository.hook)).isSymbolicLink()).toBe(true)
    expect(await readlink(repository.hook)).toBe('../../tools/check.sh')
    expect(await repository.read('tools/check.sh')).toBe('#!/bin/sh\necho linked\n')
  })

  verifies('mail.guard.restores', 'and that git does not run does not begin to', async () => {
    const repository = await open()
    await writeHook(repository.hook, '#!/bin/sh\nexit 1\n', 0o644)
    await repository.install(repository.folder)
    expect(await tried(repository)).toEqual([1, 0])
    await repository.uninstall(repository.folder)
    expect(await repository.read('.git/hooks/pre-commit')).toBe('#!/bin/sh\nexit 1\n')
    expect((await stat(repository.hook)).mode & 0o777).toBe(0o644)
  })

  verifies('mail.guard.restores', 'keeps what was changed in it meanwhile', async () => {
    const repository = await open()
    await writeHook(repository.hook, '#!/bin/sh\necho one\n')
    await repository.install(repository.folder)
    await writeHook(repository.hook, `${await repository.read('.git/hooks/pre-commit')}echo two\n`)
    await repository.uninstall(repository.folder)
    expect(await repository.read('.git/hooks/pre-commit')).toBe('#!/bin/sh\necho one\necho two\n')
  })
})

verifies('mail.guard.restores', 'where there was no hook there is none again', async () => {
  const repository = await open()
  const { folder, install, uninstall, read } = repository
  await install(folder)
  const text = await read('.git/hooks/pre-commit')
  await install(folder)
  expect(await read('.git/hooks/pre-commit')).toBe(text)
  expect(await uninstall(folder)).toBe('The guard was removed.\n')
  expect(await beside(repository)).toEqual([])
  expect(await uninstall(folder)).toBe('There was no guard.\n')
})

verifies('mail.guard.places', 'paths may hold spaces, quotes and other scripts', async () => {
  const folder = join(await temporaryFolder(), `it's a "größe" $HOME`)
  const repository = await repositoryAt(folder)
  const { install, uninstall, reserve } = await guardedProject(parley(), folder)
  await reserve('GreenCastle', ['held/**'])
  await install(folder)
  expect(await tried(repository)).toEqual([1, 0])
  await install(folder)
  expect(await tried(repository)).toEqual([1, 0])
  await uninstall(folder)
  expect(await beside(repository)).toEqual([])
})

test('a repository is found from a folder in it, also where a line break is in its name', async () => {
  const folder = join(await temporaryFolder(), 'two\nlines')
  const { git, write } = await repositoryAt(folder)
  await git('config', 'core.hooksPath', '.githooks')
  await write({ 'inner/a.ts': '1' })
  const found = { top: folder, common: join(folder, '.git'), hooks: join(folder, '.githooks') }
  expect(await findRepository(join(folder, 'inner'))).toEqual(found)
})

const beside = async ({ hook }: Repository): Promise<string[]> =>
  (await readdir(join(hook, '..'))).filter((name) => !name.endsWith('.sample'))
