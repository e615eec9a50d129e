/** Git repositories in temporary folders, with commits as agents and people make them. */
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import { printedBy } from './cli.ts'
import { plainMail } from './mail.ts'
import { type Served, temporaryFolder } from './parley.ts'
import { gitOutput, runToEnd } from './starter.ts'

/** Nothing of the developer's own git, and nothing of Parley's environment: git calls a hook without it. */
const gitEnv = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.org',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.org',
}

export interface Outcome {
  readonly code: number | string
  /** Of both streams. */
  readonly said: string
}

type Env = Record<string, string>

export interface Repository {
  readonly folder: string
  readonly hook: string
  /** Its output; throws if it fails. */
  git(...args: string[]): Promise<string>
  /** Writes files by their paths. */
  write(files: Record<string, string>): Promise<void>
  /** Stages all that changed, and commits it as this agent, or as a person. */
  commit(agent?: string, env?: Env): Promise<Outcome>
  commitStaged(agent?: string, env?: Env): Promise<Outcome>
  /** Stages files by their paths, which are in the index alone: all have one content. */
  stage(paths: readonly string[]): Promise<void>
  /** A file that is there is read as its bytes, in a form that can be compared. */
  read(path: string): Promise<string>
}

let first: Promise<string> | undefined

/** The folder `.git` of a repository with one commit, made once for all files of a worker: it takes four processes. */
function firstCommit(): Promise<string> {
  first ??= (async () => {
    // With the other templates, which the end of the run removes.
    const folder = await mkdtemp(join(dirname(inject('sqliteTemplate')), 'repository-'))
    const git = (...args: string[]) => gitOutput(args, { cwd: folder, env: gitEnv })
    await git('init', '-q', '-b', 'main')
    // Else it may still tidy up while the folder is removed.
    await git('config', 'gc.auto', '0')
    await git('config', 'maintenance.auto', 'false')
    await git('commit', '-q', '--allow-empty', '-m', 'first')
    return join(folder, '.git')
  })()
  return first
}

/** A new repository with one commit, or one that is there. */
export async function repositoryAt(folder: string, { fresh = true } = {}): Promise<Repository> {
  await mkdir(folder, { recursive: true })
  const git = async (...args: string[]): Promise<string> => (await gitOutput(args, { cwd: folder, env: gitEnv })).trim()
  const repository: Repository = {
    folder,
    hook: join(folder, '.git', 'hooks', 'pre-commit'),
    git,
    async write(files) {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      }
    },
    async commit(agent, env) {
      await git('add', '-A')
      return repository.commitStaged(agent, env)
    },
    async commitStaged(agent, env = {}) {
      const name = agent === undefined ? {} : { AGENT_NAME: agent }
      const given = { cwd: folder, env: { ...gitEnv, ...name, ...env } }
      const { code, said } = await runToEnd('git', ['commit', '-q', '-m', 'a change'], given)
      return { code, said }
    },
    async stage(paths) {
      const given = { cwd: folder, env: gitEnv }
      const blob = (await gitOutput(['hash-object', '-w', '--stdin'], { ...given, input: 'x' })).trim()
      const lines = paths.map((path) => `100644 ${blob}\t${path}\n`)
      await gitOutput(['update-index', '--index-info'], { ...given, input: lines.join('') })
    },
    read: (path) => readFile(join(folder, path), 'latin1'),
  }
  if (fresh) await cp(await firstCommit(), join(folder, '.git'), { recursive: true })
  return repository
}

/** A hook that somebody else wrote. */
export async function writeHook(path: string, text: string, mode = 0o755): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text, 'latin1')
  await chmod(path, mode)
}

/** For calls that need a repository and leave nothing of it. */
export async function inRepository<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-repository-'))
  try {
    await repositoryAt(folder)
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Two agents of a project with this key, and what they reserve. */
export async function guardedProject(at: Served, key: string) {
  const door = plainMail(at)
  for (const name of ['GreenCastle', 'BlueLake'])
    await door.call('register_agent', { project_key: key, program: 'test', model: 'none', name })
  return {
    door,
    reserve: (agent_name: string, paths: string[], more: Record<string, unknown> = {}) =>
      door.call('file_reservation_paths', { project_key: key, agent_name, paths, ...more }),
    release: (agent_name: string) => door.call('release_file_reservations', { project_key: key, agent_name }),
    install: (folder: string) => printedBy(at, ['guard', 'install', key, folder]),
    uninstall: (folder: string) => printedBy(at, ['guard', 'uninstall', folder]),
  }
}

/** A repository whose folder is a project, with the guard installed. */
export async function guardedRepository(at: Served) {
  const folder = join(await temporaryFolder(), 'code')
  const repository = await repositoryAt(folder)
  const project = await guardedProject(at, folder)
  await project.install(folder)
  return { ...repository, ...project }
}

/** A repository without a guard, whose folder is a project in which GreenCastle holds `held/**`. */
export async function reservedRepository(at: Served) {
  const folder = join(await temporaryFolder(), 'code')
  const repository = await repositoryAt(folder)
  const project = await guardedProject(at, folder)
  await project.reserve('GreenCastle', ['held/**'])
  return { ...repository, ...project }
}

/** The outcomes of a commit of a held file, and of a free one. */
export async function attempts(repository: Repository): Promise<{ held: Outcome; free: Outcome }> {
  await repository.write({ 'held/x': `${Math.random()}` })
  const held = await repository.commit('BlueLake')
  await repository.git('reset', '-q', '--hard')
  await repository.write({ 'free/x': `${Math.random()}` })
  return { held, free: await repository.commit('BlueLake') }
}

export async function tried(repository: Repository): Promise<(number | string)[]> {
  const { held, free } = await attempts(repository)
  return [held.code, free.code]
}
