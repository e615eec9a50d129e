/** A repository as `git init` would make it; git need not be there. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ownFolder } from './commit-index.ts'
import { GitError } from './git.ts'

export const branch = 'refs/heads/main'

/** One that has a HEAD is somebody's, and keeps its settings. */
export function initialise(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const own = join(folder, '.git')
  const config = join(own, 'config')
  // After a power cut it may be there and empty.
  if (!statSync(join(own, 'HEAD'), { throwIfNoEntry: false })?.size) configure(folder)
  else {
    if (/^\s*objectformat\b/im.test(existsSync(config) ? readFileSync(config, 'utf8') : ''))
      throw new GitError(`${own} names its objects by another hash than SHA-1`)
    appendFileSync(config, ownSettings)
  }
  mkdirSync(ownFolder(folder), { recursive: true })
}

const ownSettings = '[core]\n\tautocrlf = false\n\tlogAllRefUpdates = false\n'

/** Around the objects and refs that are there. HEAD comes last, whole: without one it is begun anew. */
export function configure(folder: string): void {
  const own = join(folder, '.git')
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(own, name), { recursive: true })
  const config = join(own, 'config')
  writeFileSync(config, '')
  const disk = [`filemode = ${keepsModes(config)}`, ...(existsSync(join(own, 'CONFIG')) ? ['ignorecase = true'] : [])]
  const settings = ['repositoryformatversion = 0', 'bare = false', ...disk]
  writeFileSync(config, `[core]\n${settings.map((line) => `\t${line}\n`).join('')}${ownSettings}`)
  writeFileSync(join(own, 'HEAD.new'), `ref: ${branch}\n`)
  renameSync(join(own, 'HEAD.new'), join(own, 'HEAD'))
}

/** On some disks every file is one that may be run, or none. */
function keepsModes(file: string): boolean {
  try {
    const { mode } = statSync(file)
    chmodSync(file, mode ^ 0o100)
    const changes = statSync(file).mode !== mode
    chmodSync(file, mode)
    return changes && (mode & 0o100) === 0
  } catch {
    return false
  }
}
