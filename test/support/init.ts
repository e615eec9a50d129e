/** A user with a home folder and a repository in it, for whom `parley init` is run. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parleyCommand } from './cli.ts'
import { temporaryFolder } from './parley.ts'
import { initRepository } from './repository.ts'

export const corpus = join(import.meta.dirname, '..', 'fixtures', 'settings')

/** Texts of the corpus by their kind, as `json`; broken ones apart. */
export const settingsTexts = (kind: string, { broken = false } = {}): { name: string; bytes: Buffer }[] =>
  readdirSync(corpus)
    .filter((name) => name.endsWith(`.${kind}.txt`) && name.startsWith('broken') === broken)
    .map((name) => ({ name, bytes: readFileSync(join(corpus, name)) }))

export async function newUser() {
  const home = await temporaryFolder()
  const repository = join(home, 'work', 'back end')
  await initRepository(repository)
  const run = (args: readonly string[], { cwd = repository, env = {} } = {}) =>
    parleyCommand({ storage: home }, ['init', ...args], { cwd, env: { PATH: '', ...env } })
  return {
    home,
    repository,
    run,
    async init(...args: string[]) {
      return run([...args, '--yes'])
    },
    put(file: string, content: string | Uint8Array, mode?: number) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content, mode === undefined ? {} : { mode })
    },
    read: (file: string) => readFileSync(file, 'utf8'),
    json: (file: string) => JSON.parse(readFileSync(file, 'utf8')),
    files: () => filesOf(home),
  }
}

/** Every file with its mode and bytes, every folder and every link; of git only what init may change. */
function filesOf(root: string): Record<string, string> {
  const found: Record<string, string> = {}
  const visit = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      const stat = lstatSync(path)
      const key = relative(root, path)
      if (/\.git\/(?!info)/.test(key)) continue
      if (stat.isSymbolicLink()) found[key] = `-> ${readlinkSync(path)}`
      else if (stat.isDirectory()) {
        found[key] = 'folder'
        visit(path)
      } else found[key] = `${(stat.mode & 0o777).toString(8)} ${readFileSync(path).toString('latin1')}`
    }
  }
  visit(root)
  return found
}
