/** One `parley bus`, spoken to by bare lines: the load must cost less than what it measures. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../bin/parley.js', import.meta.url))

/** Where the id stands in the lines that Parley writes. */
const idAt = '{"jsonrpc":"2.0","id":'.length

export interface BusProcess {
  readonly pid: number
  /** Milliseconds from the start of the process to its answer to `initialize`. */
  readonly startedIn: number
  /** The line that answers a tool call; one that says it failed is thrown. */
  call(tool: string, args?: Record<string, unknown>): Promise<string>
  stop(): Promise<void>
}

export async function startBus(storage: string): Promise<BusProcess> {
  const began = performance.now()
  const child = spawn(process.execPath, [program, 'bus'], {
    env: { STORAGE_ROOT: storage, LOG_LEVEL: 'warn' },
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: storage,
  })
  const gone = once(child, 'close')
  const waiting = new Map<number, (line: string) => void>()
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
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: asked, method, params })}\n`)
    return new Promise((resolve) => waiting.set(asked, resolve))
  }
  await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  return {
    pid: child.pid ?? 0,
    startedIn: performance.now() - began,
    async call(tool, args = {}) {
      const line = await ask('tools/call', { name: tool, arguments: args })
      if (line.includes('"isError":true')) throw new Error(`${tool}: ${line}`)
      return line
    },
    async stop() {
      child.stdin.end()
      await gone
    },
  }
}

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
