/** Installs a Python package of the field into a folder of its own, `bench/.peers/`, or says why it cannot. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const place = fileURLToPath(new URL('../.peers', import.meta.url))

/** Licences that let anybody run and measure a system. */
const allowed = /\b(MIT|Apache|BSD|ISC)\b/

export interface Wanted {
  readonly name: string
  readonly version: string
  /** Further requirements, in pip's words. */
  readonly with?: readonly string[]
  /** The module that must be there for it to work. */
  readonly module: string
}

export interface Installed {
  readonly python: string
  readonly bin: string
  readonly licence: string
  /** The environment of its process. */
  readonly env: Record<string, string>
  readonly notes: readonly string[]
}

export class Skipped extends Error {}

export async function install(wanted: Wanted, say: (text: string) => void): Promise<Installed> {
  const folder = join(place, `${wanted.name}-${wanted.version}`)
  const bin = join(folder, 'bin')
  const python = join(bin, 'python3')
  if (!existsSync(join(folder, 'installed'))) {
    say(`installing ${wanted.name} ${wanted.version}`)
    await fill(folder, wanted)
  }
  const about = await describe(python, wanted)
  const problem = await imports(python, wanted.module, {})
  const env = problem === undefined ? {} : await standIn(folder, problem)
  const still = await imports(python, wanted.module, env)
  if (still !== undefined) throw new Skipped(`${wanted.name} ${wanted.version} does not start here: ${still}`)
  const notes = [about.packages]
  if (problem !== undefined)
    notes.push(
      `Its binary wants glibc 2.38, which this machine does not have; the three functions it misses (${Object.keys(missing).join(', ')}) were put in by a preloaded library that calls their older forms.`,
    )
  return { python, bin, licence: about.licence, env, notes }
}

async function fill(folder: string, { name, version, with: more = [] }: Wanted): Promise<void> {
  const python = await findPython()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  try {
    await run(python, ['-m', 'venv', folder])
    await run(join(folder, 'bin/python3'), ['-m', 'pip', 'install', '-q', `${name}==${version}`, ...more])
    writeFileSync(join(folder, 'installed'), '')
  } catch (error) {
    throw new Skipped(`${name} ${version} cannot be installed: ${lastLine(error)}`)
  }
}

/** Both packages want 3.12. What is first on the PATH is often older, and a newer one stands beside it. */
async function findPython(): Promise<string> {
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions/*/bin/python3')
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12', ...globSync(pyenv)]
  for (const name of names) {
    const check = await run(name, ['-c', 'import sys, venv; print(sys.version_info >= (3, 12))']).catch(() => undefined)
    if (check?.stdout.trim() === 'True') return name
  }
  throw new Skipped('there is no Python 3.12 or newer on this machine')
}

async function describe(python: string, { name }: Wanted): Promise<{ licence: string; packages: string }> {
  const script = `
import json, platform, importlib.metadata as m
d = m.metadata('${name}')
found = d.get('License-Expression') or next((c.split(' :: ')[-1] for c in d.get_all('Classifier') or [] if c.startswith('License')), d.get('License') or '')
have = {k: m.version(k) for k in ('mcp', 'fastmcp', 'uvicorn') if any(x.name == k for x in m.distributions())}
print(json.dumps({'licence': found, 'packages': 'Python ' + platform.python_version() + ''.join(', ' + k + ' ' + v for k, v in have.items()) + '.'}))`
  const { stdout } = await run(python, ['-c', script])
  const about = JSON.parse(stdout) as { licence: string; packages: string }
  if (!allowed.test(about.licence)) throw new Skipped(`the licence of ${name} is ${about.licence || 'not stated'}`)
  return { ...about, licence: about.licence.replace(/ License$/, '') }
}

/** The last line of what goes wrong, or nothing if it can be imported. */
const imports = (python: string, module: string, env: Record<string, string>): Promise<string | undefined> =>
  run(python, ['-c', `import ${module}`], { env: { ...process.env, ...env }, cwd: place }).then(
    () => undefined,
    lastLine,
  )

const lastLine = (error: unknown): string => {
  const { stderr = '', message = '' } = error as { stderr?: string; message?: string }
  return (stderr || message).trim().split('\n').at(-1) ?? ''
}

const missing = {
  __isoc23_strtol: ['long', 'strtol'],
  __isoc23_strtoll: ['long long', 'strtoll'],
  __isoc23_strtoull: ['unsigned long long', 'strtoull'],
} as const

/** Compilers since glibc 2.38 rename strtol and its like; an older system has the same functions under their plain names. */
async function standIn(folder: string, problem: string): Promise<Record<string, string>> {
  if (!problem.includes('__isoc23_')) return {}
  const [source, library] = [join(folder, 'stand-in.c'), join(folder, 'stand-in.so')]
  const functions = Object.entries(missing).map(
    ([name, [type, plain]]) => `${type} ${name}(const char *s, char **e, int b) { return ${plain}(s, e, b); }\n`,
  )
  writeFileSync(source, `#include <stdlib.h>\n${functions.join('')}`)
  const compiled = await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]).catch(() => undefined)
  return compiled === undefined ? {} : { LD_PRELOAD: library }
}
