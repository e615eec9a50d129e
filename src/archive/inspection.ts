/** A look at a repository from outside: what is in it, what git finds amiss, what somebody else has done to it. */
import { join } from 'node:path'
import { type StoredFile, shaOfBytes, shaOfFile } from './blobs.ts'
import { tryGit } from './git.ts'
import { branch } from './new-repository.ts'
import { type Sha, shaOf } from './objects.ts'
import { newestCommit } from './repository.ts'

export interface Fault {
  readonly kind: 'missing' | 'changed' | 'extra' | 'foreign commit' | 'lost object'
  /** The path of a file, or the name of a commit or object. */
  readonly what: string
  readonly says: string
}

export class Inspection {
  readonly #folder: string
  /** The committed files by their contents; those that were asked for are taken out. */
  readonly #files = new Map<string, string>()
  readonly exists: boolean

  private constructor(folder: string) {
    this.#folder = folder
    this.exists = newestCommit(folder) !== undefined
  }

  static async open(folder: string): Promise<Inspection> {
    const inspection = new Inspection(folder)
    if (!inspection.exists) return inspection
    const { stdout } = await tryGit(folder, ['ls-tree', '-r', '-z', branch])
    for (const line of stdout.split('\0')) {
      const [head = '', path] = line.split('\t')
      if (path !== undefined) inspection.#files.set(path, head.split(' ')[2] ?? '')
    }
    return inspection
  }

  /** The fault of a file that should have this text, committed and in the folder. */
  compare(path: string, text: string): Fault | undefined {
    return this.#compare(path, shaOf('blob', [Buffer.from(text)]))
  }

  /** The same for a file of any bytes. */
  async compareStored({ path, open }: StoredFile): Promise<Fault | undefined> {
    const bytes = await open()
    const sha = bytes && (await shaOfBytes(bytes))
    if (sha !== undefined) return this.#compare(path, sha)
    this.#files.delete(path)
    return { kind: 'missing', what: path, says: 'is not whole in the database' }
  }

  #compare(path: string, wanted: Sha): Fault | undefined {
    const sha = this.#files.get(path)
    this.#files.delete(path)
    if (sha === undefined) return { kind: 'missing', what: path, says: 'is not committed' }
    if (sha !== wanted.toString('hex'))
      return { kind: 'changed', what: path, says: 'is committed with another content' }
    try {
      const same = shaOfFile(join(this.#folder, path)).equals(wanted)
      return same ? undefined : { kind: 'changed', what: path, says: 'has another content in the folder' }
    } catch {
      return { kind: 'missing', what: path, says: 'is committed, but not in the folder' }
    }
  }

  /** Committed files that nobody asked for. */
  extra(): Fault[] {
    return [...this.#files.keys()].map((what) => ({ kind: 'extra', what, says: 'is not known to the database' }))
  }

  async unknown(id: string): Promise<Fault[]> {
    return [...(await this.#lost()), ...(await this.#foreign(id)), ...(await this.#untracked())]
  }

  async #lost(): Promise<Fault[]> {
    const { code, stdout, stderr } = await tryGit(this.#folder, ['fsck', '--full', '--no-dangling', '--no-progress'])
    if (code === 0) return []
    const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '')
    return lines.map((line) => ({
      kind: 'lost object',
      what: /[0-9a-f]{40}/.exec(line)?.[0] ?? 'git fsck',
      says: line,
    }))
  }

  /** A broken history is told of by `#lost`. */
  async #foreign(id: string): Promise<Fault[]> {
    const format = '--format=%H%x09%an%x09%(trailers:key=Archive,valueonly,separator=%x2C)'
    const { stdout } = await tryGit(this.#folder, ['log', format, branch])
    return stdout
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([sha, , mark]) => sha !== undefined && sha !== '' && mark !== id)
      .map(([what = '', author]) => ({
        kind: 'foreign commit',
        what,
        says: `was made by ${author}, not by this archive`,
      }))
  }

  async #untracked(): Promise<Fault[]> {
    const { stdout } = await tryGit(this.#folder, [
      'status',
      '--porcelain',
      '-z',
      '--untracked-files=all',
      '--no-renames',
    ])
    return stdout
      .split('\0')
      .filter((line) => line !== '')
      .flatMap((line): Fault[] => {
        const what = line.slice(3)
        if (line.startsWith('??')) return [{ kind: 'extra', what, says: 'is in the folder, but not committed' }]
        return line[0] === ' ' ? [] : [{ kind: 'changed', what, says: 'is staged for a commit' }]
      })
  }
}
