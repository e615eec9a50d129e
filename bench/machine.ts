/** Where and of which tree a bench ran, as it stands in the results that are kept. */
import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'

export const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}, Node ${process.version}`

export const today = (): string => new Date().toISOString().slice(0, 10)

export const treeOf = (): string =>
  execFileSync('git', ['describe', '--always', '--dirty'], { cwd: import.meta.dirname })
    .toString()
    .trim()
