/** The package as npm would publish it, and an installation of it with an empty HOME. Nothing is fetched: it needs no other package. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'

export const run = promisify(execFile)

/** The path of the tarball, which all files of a run have in common. */
export async function pack(): Promise<string> {
  const answer = await fetch(inject('packageUrl'))
  const text = await answer.text()
  if (!answer.ok) throw new Error(`npm could not pack: ${text}`)
  return text
}

/** As on a new machine: nothing of this one but the programs on the PATH, and the Node of the tests. */
export const bareHome = (folder: string): Record<string, string> => ({
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  HOME: join(folder, 'home'),
  npm_config_cache: join(folder, 'cache'),
  npm_config_offline: 'true',
  npm_config_omit: 'optional',
})

/** Installs the package as `npm i -g` does, below `folder/prefix`. */
export async function installed(folder: string) {
  const tarball = await pack()
  const prefix = join(folder, 'prefix')
  const env = bareHome(folder)
  await mkdir(join(folder, 'home'))
  await run('npm', ['install', '--global', '--prefix', prefix, tarball], { cwd: folder, env })
  const home = join(prefix, 'lib', 'node_modules', 'parley-hub')
  const files = (await readdir(home, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
  return { prefix, home, files, env, parley: join(prefix, 'bin', 'parley') }
}

export async function versionOf(folder: string): Promise<string> {
  return (JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}
