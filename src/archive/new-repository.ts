/** A repository as `git init` would make it; git need not be there. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownFolder } from './commit-index.ts'

export const branch = 'refs/heads/main'

/** One that has a HEAD is somebody's, and keeps its settings. */
export function initialise(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const own = join(folder, '.git')
  if (existsSync(join(own, 'HEAD'))) appendFileSync(join(own, 'config'), ownSettings)
  else configure(folder)
  mkdirSync(ownFolder(folder), { recursive: true })
}

const ownSettings = '[core]\n\tautocrlf = false\n\tlogAllRefUpdates = false\n'

/** Around the objects and refs that are there. HEAD comes last: without one it is begun anew. */
export function configure(folder: string): void {
  const own = join(folder, '.git')
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(own, name), { recursive: true })
  const config = join(own, 'config')
  writeFileSync(config, '')
  const disk = [`filemode = ${keepsModes(config)}`, ...(existsSync(join(own, 'CONFIG')) ? ['ignorecase = true'] : [])]
  const settings = ['repositoryformatversion = 0', 'bare = false', ...disk]
  writeFileSync(config, `[core]\n${settings.map((line) => `\t${line}\n`).join('')}${ownSettings}`)
  writeFileSync(join(own, 'HEAD'), `ref: ${branch}\n`)
}

/** On some disks every file is one that may be run, or none. */
function keepsModes(file: string): boolean {
  try {
    const { mode } = statSync(file)
    chmodSync(file, mode ^ 0o100)
    const kept = statSync(file).mode !== mode
    chmodSync(file, mode)
    return kept
  } catch {
    return false
  }
}
