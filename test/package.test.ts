/** The published package: what `npm pack` puts into it, and that it runs. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './support/sources.ts'

const run = promisify(execFile)

test('the package holds the launcher and the built program, nothing of the source, and runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-package-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
  await run('npm', ['pack', '--pack-destination', folder], { cwd: root, env })
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  await run('tar', ['xzf', tarball], { cwd: folder })

  const home = join(folder, 'package')
  const files = (await readdir(home, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
  expect(files).toEqual(expect.arrayContaining(['bin/parley.js', 'dist/main.js', 'LICENSE', 'package.json']))
  const strange = /^(?!(bin|dist)\/.*\.js$|(LICENSE|README\.md|package\.json)$)|\.test\.js$/
  expect(files.filter((file) => strange.test(file))).toEqual([])

  await symlink(join(root, 'node_modules'), join(home, 'node_modules'))
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(await run(process.execPath, [join(home, 'bin', 'parley.js'), '--version'])).toMatchObject({
    stdout: `${version}\n`,
    stderr: '',
  })
}, 60_000)
