/** A Parley for tests of its launcher: the real `bin/`, a stand-in for the program, and an npm that only pretends. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { root } from './sources.ts'

/** It does what its first argument says. */
const standIn = `
  const [what, value] = process.argv.slice(2)
  if (what === 'pid') console.log(process.pid)
  if (what === 'echo') process.stdin.pipe(process.stdout)
  if (what === 'exit') process.exitCode = Number(value)
  if (what === 'die') process.kill(process.pid, value)
  if (what === 'catch') {
    process.on(value, () => process.exit(42))
    setInterval(() => {}, 1000)
    console.log('ready')
  }`

/** Notes that it was called, takes its time, and "installs" the Node that runs the tests. */
const pretendedNpm = `
  const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  appendFileSync(process.env.NPM_CALLS, process.argv.slice(2).join(' ') + '\\n')
  console.log('npm talks to stdout')
  setTimeout(() => {
    const bin = 'node_modules/' + Object.keys(dependencies)[0] + '/bin'
    mkdirSync(bin, { recursive: true })
    writeFileSync(bin + '/node', '#!/bin/sh\\nexec "${process.execPath}" "$@"\\n', { mode: 0o755 })
  }, 300)`

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Installation {
  readonly folder: string
  /** How npm was called, a line each time. */
  npmCalls(): Promise<string[]>
  /** Starts the launcher. `pretend` is JavaScript that runs before it, for example to pass for an older Node. */
  start(args: readonly string[], options?: { pretend?: string; script?: string }): ChildProcessWithoutNullStreams
}

/** For `pretend`: the launcher believes to run on this version. The Node it hands over to knows better. */
export const pretendNode = (version: string): string =>
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`

/** A shell script may take npm's place; else it is one that installs. */
export async function installation({ npm }: { npm?: string } = {}): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-launcher-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'path')
  const calls = join(folder, 'npm-calls')
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  await mkdir(join(folder, 'dist'))
  await mkdir(path)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'dist', 'main.js'), standIn)
  await writeFile(join(folder, 'npm.cjs'), pretendedNpm)
  await writeFile(join(path, 'npm'), npm ?? `#!/bin/sh\nexec "${process.execPath}" "${join(folder, 'npm.cjs')}" "$@"\n`)
  await chmod(join(path, 'npm'), 0o755)
  await writeFile(calls, '')
  const env = { PATH: path, NPM_CALLS: calls, XDG_CACHE_HOME: join(folder, 'cache') }
  return {
    folder,
    npmCalls: async () => (await readFile(calls, 'utf8')).split('\n').filter(Boolean),
    start(args, { pretend = '', script = 'bin/parley.js' } = {}) {
      const before = pretend === '' ? [] : ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
      return spawn(process.execPath, [...before, join(folder, script), ...args], { env })
    },
  }
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const close = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), close])
  return { code, signal, stdout, stderr }
}
