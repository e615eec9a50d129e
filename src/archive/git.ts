/** The `git` program: started for one task at a time, with no setting of whoever runs Parley, nor one of a repository that runs or redirects. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { programEnv } from '../base/processes.ts'

export class GitError extends Error {
  override readonly name = 'GitError'
}

/**
 * They go before those of the repository, which came from a backup perhaps, and that from anybody: nothing there starts a
 * program or writes elsewhere (archive.git.settings). Large files are streamed.
 */
const settings = [
  'safe.directory=*',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.autocrlf=false',
  'core.symlinks=false',
  'core.sparseCheckout=false',
  'submodule.recurse=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'core.bigFileThreshold=1m',
]

const environment = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  // A repository may say that its lost objects are to be had elsewhere, by a program of its choice.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  LC_ALL: 'C',
}

interface Start {
  /** Where git finds the repository; `{}` where it looks itself. */
  readonly places?: Record<string, string>
  /** Milliseconds after which it is killed; none for a task that may take long. */
  readonly timeout?: number
}

function start(
  folder: string,
  args: readonly string[],
  { places = placesOf(resolve(folder)), timeout }: Start = {},
): ChildProcessWithoutNullStreams {
  const options = settings.flatMap((setting) => ['-c', setting])
  const env = {
    ...programEnv(),
    ...environment,
    ...places,
    // Where this one is broken, git would go on with a repository around it, and reset the files of that.
    GIT_CEILING_DIRECTORIES: dirname(resolve(folder)),
  }
  const ending = { timeout, killSignal: 'SIGKILL' } as const
  return spawn('git', [...options, ...args], { cwd: folder, env, stdio: 'pipe', windowsHide: true, ...ending })
}

/** Every byte as it is, whatever the machine is used to; and no program of a filter, since no file of the tree outdoes this one. */
const attributes = '* -text -filter -ident -working-tree-encoding\n'

/** Said to git in an archive, which would otherwise be led by `core.worktree`, `commondir` or a file in the place of the folder `.git`. */
function placesOf(folder: string): Record<string, string> {
  refuseElsewhere(folder)
  const own = join(folder, '.git')
  if (!existsSync(own)) return {}
  const objects = join(own, 'objects')
  writeAttributes(join(own, 'info'))
  return { GIT_DIR: own, GIT_COMMON_DIR: own, GIT_WORK_TREE: folder, GIT_OBJECT_DIRECTORY: objects }
}

/** Throws where the repository of a folder, or a part of it, lies elsewhere. */
export function refuseElsewhere(folder: string): void {
  const own = join(folder, '.git')
  const found = lstatSync(own, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) throw new GitError(`${own} is no folder: it leads to a repository elsewhere`)
  const elsewhere = join(own, 'objects', 'info', 'alternates')
  if (existsSync(elsewhere)) throw new GitError(`${elsewhere} leads to objects elsewhere`)
}

function writeAttributes(folder: string): void {
  const file = join(folder, 'attributes')
  if (existsSync(file) && readFileSync(file, 'utf8') === attributes) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, attributes)
}

/** Runs it to its end and returns what it printed; throws what it complained of. */
export async function git(folder: string, args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await tryGit(folder, args, input)
  if (code === 0) return stdout
  throw new GitError(`git ${args[0]} in ${folder}: ${stderr.trim() || `it ended with ${code}`}`)
}

/** The same for a task whose exit code is an answer. */
export const tryGit = async (folder: string, args: readonly string[], input = '') => finish(start(folder, args), input)

async function finish(child: ChildProcessWithoutNullStreams, input: string) {
  const out: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  // It may end without reading all.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: Buffer.concat(out).toString(), stderr }
}

/** A pattern is looked up in milliseconds; a FIFO in the place of a file of patterns keeps git waiting for ever. */
const askingMs = 5000

/**
 * Whether a repository ignores a path in it, by its patterns alone; undefined where git does not say. The repository is no
 * archive but somebody's own, perhaps a linked worktree or a submodule: git finds it, and nothing is written there.
 */
export async function isIgnored(repository: string, path: string): Promise<boolean | undefined> {
  // Whatever its configuration calls its folder. A name that begins with a colon would be read as a pattern.
  const here = ['--git-dir=.git', '--work-tree=.']
  const args = [...here, 'check-ignore', '--no-index', '--quiet', '--', `./${relative(repository, path)}`]
  try {
    const { code } = await finish(start(repository, args, { places: {}, timeout: askingMs }), '')
    return code === 0 || code === 1 ? code === 0 : undefined
  } catch {
    // This machine has no git.
    return undefined
  }
}

/** By the PATH on which it was found: asking costs a process. */
const versions = new Map<string | undefined, string>()

/** As `git --version` says it; undefined where this machine has no git. */
export async function gitVersion(): Promise<string | undefined> {
  const { PATH } = programEnv()
  const known = versions.get(PATH)
  if (known !== undefined) return known
  try {
    const { code, stdout } = await finish(start('.', ['--version'], { places: {} }), '')
    if (code !== 0) return undefined
    versions.set(PATH, stdout.trim())
    return stdout.trim()
  } catch {
    return undefined
  }
}

/** Reads objects one after the other, from one process that stays. */
export class ObjectReader {
  readonly #child: ChildProcessWithoutNullStreams
  /** The bytes that came and were not taken yet. */
  readonly #chunks: Buffer[] = []
  #told = () => {}
  #ended: Error | undefined

  constructor(folder: string) {
    this.#child = start(folder, ['cat-file', '--batch'])
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#told()
    })
    this.#child.stdin.on('error', () => {})
    const end = (error: Error) => {
      this.#ended ??= error
      this.#told()
    }
    // One that cannot be started says nothing of the repository: no GitError.
    this.#child.on('error', end).on('close', () => end(new GitError(`git cat-file in ${folder} has ended`)))
  }

  /** Throws if the object is not there. One call at a time. */
  async read(sha: string): Promise<Buffer> {
    this.#child.stdin.write(`${sha}\n`)
    const [, type, size] = (await this.#line()).split(' ')
    if (size === undefined) throw new GitError(`the object ${sha} is ${type ?? 'lost'}`)
    return (await this.#take(Number(size) + 1)).subarray(0, -1)
  }

  close(): void {
    this.#child.stdin.end()
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = Buffer.concat(this.#chunks).indexOf('\n')
      if (end >= 0) return (await this.#take(end + 1)).toString().trim()
      await this.#more()
    }
  }

  /** Into one buffer as they come: a folder of 11 MB comes in 170 chunks, which would be there beside what is made of them. */
  async #take(length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let at = 0; at < length; ) {
      const chunk = this.#chunks.shift()
      if (chunk === undefined) await this.#more()
      else {
        const taken = chunk.copy(bytes, at)
        at += taken
        if (taken < chunk.length) this.#chunks.unshift(chunk.subarray(taken))
      }
    }
    return bytes
  }

  #more(): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended
    return new Promise((resolve) => {
      this.#told = resolve
    })
  }
}
