/** A real Parley on a free port, with a storage folder of its own: `parley serve` as a child process, or the same server in this one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { pino } from 'pino'
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest'
import { mallocSettings } from '../../bin/malloc.js'
import { banner } from '../../src/app/banner.ts'
import { openLog } from '../../src/app/open.ts'
import { startServer } from '../../src/app/serve.ts'
import { version } from '../../src/app/version.ts'
import type { Log } from '../../src/base/log.ts'
import type { Config } from '../../src/settings/all.ts'
import { loadConfig } from '../../src/settings/read.ts'
import type { Line } from './logged.ts'
import { initRepository } from './repository.ts'

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

/** A server, as its clients reach it. */
export interface Served {
  readonly url: string
  readonly port: number
  readonly storage: string
}

export interface Parley extends Served {
  readonly child: ChildProcess
  /** Its output so far. */
  readonly output: { stdout: string; stderr: string }
  /** Resolves once it has printed something that matches; rejects if it ends before that. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal and resolves with the exit code, or the signal's name, once the process is gone. */
  end(signal?: NodeJS.Signals): Promise<number | string>
}

export interface ParleyOptions {
  env?: Record<string, string>
  args?: string[]
  /** Another build than that of this tree. */
  launcher?: string
  /** A folder that several of them share; else a new one that goes with the test. It is the working folder too. */
  storage?: string
  /** Takes what must be done when it is no longer needed; by default that is when the test ends. */
  later?: Later
}

export type Later = (work: () => Promise<unknown>) => void

export const onTestEnd: Later = (work) => onTestFinished(async () => void (await work()))

export async function temporaryFolder(later: Later = onTestEnd): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
  later(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The same as a git repository, whose files mail may carry. */
export async function temporaryRepository(later?: Later): Promise<string> {
  const folder = await temporaryFolder(later)
  await initRepository(folder)
  return folder
}

/**
 * Nothing of the developer's own settings reaches the process. It archives only where that is the point of the test.
 * With the arenas that it would begin anew for, a server starts in 450 ms instead of 550 (`test/launcher.test.ts` shows that it does).
 */
export const bareEnv = (storage: string, env: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: storage,
  STORAGE_ROOT: storage,
  ...mallocSettings,
  ARCHIVE_ENABLED: 'false',
  ...env,
})

/** Starts the program without waiting for it to be ready. */
export function spawnParley(
  args: string[],
  env: Record<string, string>,
  { cwd = tmpdir(), later = onTestEnd, launcher = program } = {},
) {
  const child = spawn(process.execPath, [launcher, ...args], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const gone = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  later(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await gone
  })
  return { child, output, gone, printed }

  function printed(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
    const look = () => {
      const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr)
      if (match) resolve(match)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    look()
    void gone.then((code) => reject(new Error(`parley ended with ${code} and did not print it:\n${output.stderr}`)))
    return promise
  }
}

/** Runs the program to its end. */
export async function runParley(args: string[], env: Record<string, string>, options: { cwd?: string } = {}) {
  const { output, gone } = spawnParley(args, env, options)
  return { code: await gone, ...output }
}

export async function startParley({
  env,
  args = [],
  launcher,
  storage,
  later = onTestEnd,
}: ParleyOptions = {}): Promise<Parley> {
  const folder = storage ?? (await newStorage(env, later))
  const { child, output, gone, printed } = spawnParley(
    ['serve', ...args],
    bareEnv(folder, { HTTP_PORT: '0', ...env }),
    { cwd: folder, later, ...(launcher !== undefined && { launcher }) },
  )
  const [, url = '', port] = await printed(/ready at (http:\/\/\S+?:(\d+))\s/)
  return {
    url,
    port: Number(port),
    storage: folder,
    child,
    output,
    printed,
    end(signal = 'SIGTERM') {
      child.kill(signal)
      return gone
    },
  }
}

export interface ServedHere extends Served {
  /** A process would print it. */
  readonly banner: string
  stop(): Promise<void>
}

interface HereOptions extends Omit<ParleyOptions, 'args' | 'launcher'> {
  log?: (config: Config) => Log
}

/** For tests to which the process is not the point: a start takes 50 ms here, and 600 ms in a process. */
export async function serveHere({ env, storage, later = onTestEnd, log }: HereOptions = {}): Promise<ServedHere> {
  const folder = storage ?? (await newStorage(env, later))
  const config = loadConfig(bareEnv(folder, { HTTP_PORT: '0', ...env }))
  const server = await startServer(config, log?.(config) ?? pino({ level: 'silent' }))
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= server.stop()
    return stopped
  }
  later(stop)
  const port = Number(new URL(server.url).port)
  return { url: server.url, port, storage: folder, banner: banner({ version, ...server }), stop }
}

/** The same with the log that a process would write on its stderr. */
export async function serveLogged(options: Omit<HereOptions, 'log'> = {}) {
  let text = ''
  const to = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  const server = await serveHere({ ...options, log: (config) => openLog(config, to) })
  return {
    ...server,
    logged: () => text,
    lines: (): Line[] =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  }
}

/** A folder with a database as its first start would make it, in a tenth of the time; stores are told apart by an id of their own. */
async function newStorage(env: ParleyOptions['env'], later: Later): Promise<string> {
  const folder = await temporaryFolder(later)
  if (env?.DATABASE_URL !== undefined) return folder
  const file = join(folder, 'parley.sqlite3')
  await copyFile(inject('sqliteTemplate'), file)
  const db = new DatabaseSync(file)
  db.exec("UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'uuid_namespace'")
  db.close()
  return folder
}

/** One server for all tests of a file. */
export const shareServer = (options: Omit<ParleyOptions, 'later' | 'args'> = {}): (() => Served) =>
  share((later) => serveHere({ ...options, later }))

/** One process for all tests of a file. */
export const shareParley = (options: Omit<ParleyOptions, 'later'> = {}): (() => Parley) =>
  share((later) => startParley({ ...options, later }))

/** Something that takes time to start, for all tests of a file. */
export function share<Shared>(start: (later: Later) => Promise<Shared>, timeoutMs?: number): () => Shared {
  const ends: (() => Promise<unknown>)[] = []
  let parley: Shared | undefined
  beforeAll(async () => {
    parley = await start((work) => ends.push(work))
  }, timeoutMs)
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })
  return () => {
    if (parley === undefined) throw new Error('Parley has not started yet')
    return parley
  }
}

export interface ToolResult {
  content: { type: string; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

export interface PlainOptions {
  headers?: Record<string, string>
  signal?: AbortSignal
  /** The `_meta` of the call. */
  meta?: object
}

/** A plain JSON-RPC `tools/call`, as the specs' curl lines send it. */
export async function callTool(
  endpoint: string,
  name: string,
  args: Record<string, unknown> = {},
  { headers = {}, signal, meta }: PlainOptions = {},
): Promise<ToolResult> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, ...(meta && { _meta: meta }) },
    }),
    ...(signal && { signal }),
  })
  const answer = (await response.json()) as { result?: ToolResult; error?: unknown }
  if (answer.result === undefined) throw new Error(`${response.status}: ${JSON.stringify(answer)}`)
  return answer.result
}

export interface Mail {
  id: string
  from: string
  content: string
  created: string
  lease?: string
}

/** The mailbox of one agent, by plain calls; errors are thrown as their code. */
export function mailbox({ url }: { url: string }, agent: string, options: PlainOptions & { query?: string } = {}) {
  const endpoint = `${url}/agents/${agent}/mcp${options.query ?? ''}`
  const call = async (name: string, args: Record<string, unknown>, signal?: AbortSignal) => {
    const { structuredContent, isError } = await callTool(
      endpoint,
      name,
      args,
      signal ? { ...options, signal } : options,
    )
    if (isError) throw (structuredContent as { error: { code: string } }).error
    return structuredContent
  }
  return {
    send: async (name: string, msg: string, msg_id?: string, reply_to?: string | number) => {
      const ids = { ...(msg_id !== undefined && { msg_id }), ...(reply_to !== undefined && { reply_to }) }
      return (await call('send_to_agent', { name, msg, ...ids }))?.result as string
    },
    check: async (args: Record<string, unknown> = {}, signal?: AbortSignal) =>
      (await call('check_mail', args, signal))?.result as Mail | null,
    ack: async (id: string, lease: string) => call('ack_mail', { id, lease }),
  }
}

/** How many calls wait there for something to happen. */
export async function waitingCalls({ url }: { url: string }): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^parley_waiting (\d+)/m.exec(text)?.[1])
}

export const eras = ['2025-11-25', '2026-07-28'] as const
export type EraName = (typeof eras)[number]

/** The official client, connected in one of the two eras, closed with the test. */
export async function connectClient(
  endpoint: string,
  era: EraName,
  headers: Record<string, string> = {},
): Promise<Client> {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy'
  const client = new Client({ name: 'parley-test', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}
