/** A bus over stdio, `parley bus` or another, spoken to by bare lines: the load must cost less than what it measures. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url))

/** Where the id stands in the lines that Parley writes, and other MCP servers, too. */
const idAt = '{"jsonrpc":"2.0","id":'.length

export interface BusProcess {
  readonly pid: number
  /** Milliseconds from the start of the process to its answer to `initialize`. */
  readonly startedIn: number
  /** The line that answers a tool call; one that says it failed is thrown. */
  call(tool: string, args?: Record<string, unknown>): Promise<string>
  stop(): Promise<void>
}

export const startBus = (storage: string): Promise<BusProcess> =>
  speakTo([process.execPath, program, 'bus'], {
    env: { STORAGE_ROOT: storage, LOG_LEVEL: 'warn' },
    cwd: storage,
    errors: 'inherit',
  })

export interface Spawning {
  readonly env: Record<string, string>
  readonly cwd: string
  /** Where its log goes. */
  readonly errors: 'inherit' | 'ignore'
}

export async function speakTo([command = '', ...args]: string[], { env, cwd, errors }: Spawning): Promise<BusProcess> {
  const began = performance.now()
  const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', errors] })
  const waiting = new Map<number, (line: string) => void>()
  let ended = false
  const gone = once(child, 'close').then(() => {
    ended = true
    for (const [asked, answer] of waiting) answer(endedInstead(asked))
  })
  // A process that ends does not read what is written to it.
  child.stdin.on('error', () => {})
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const answered = Number.parseInt(line.slice(idAt), 10)
      waiting.get(answered)?.(line)
      waiting.delete(answered)
    }
  })
  let id = 0
  const ask = (method: string, params: object): Promise<string> => {
    const asked = ++id
    if (ended) return Promise.resolve(endedInstead(asked))
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: asked, method, params })}\n`)
    return new Promise((resolve) => waiting.set(asked, resolve))
  }
  const hello = await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  const startedIn = performance.now() - began
  if (hello.includes('"isError":true')) throw new Error(`${command} ${args.join(' ')} ended before it was ready`)
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return {
    pid: child.pid ?? 0,
    startedIn,
    async call(tool, args = {}) {
      const line = await ask('tools/call', { name: tool, arguments: args })
      if (line.includes('"isError":true')) throw new Error(`${tool}: ${line}`)
      return line
    },
    async stop() {
      child.stdin.end()
      // One that sleeps in a call does not see the end of its input.
      const timer = setTimeout(() => child.kill('SIGTERM'), 2000)
      await gone
      clearTimeout(timer)
    },
  }
}

/** The line that a call has for its answer when its process ends. */
const endedInstead = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"content":"ended","isError":true}}`

/** Makes a topic and lets each of these join it; returns its id. */
export async function meet(name: string, peers: readonly (readonly [BusProcess, string])[]): Promise<string> {
  let topic = ''
  for (const [peer, agent_name] of peers) {
    const line = await peer.call('topic_create', { name })
    topic = /"topic_id":"([^"]+)"/.exec(line)?.[1] ?? ''
    await peer.call('topic_join', { agent_name, topic_id: topic })
  }
  return topic
}
