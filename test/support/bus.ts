/** Peers of the bus: each a `parley bus` of its own that the official client started, or a caller of /bus/mcp. */
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { callTool, type EraName, eras, type Later, type ToolResult, temporaryFolder } from './parley.ts'

const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url))

export interface Message {
  message_id: string
  topic_id: string
  seq: number
  sender: string
  message_type: string
  reply_to: string | null
  content_markdown: string
  metadata: Record<string, unknown> | null
  client_message_id: string | null
  created_at: number
}

export interface Sync {
  topic_id: string
  agent_name: string
  topic_status: 'open' | 'closed'
  status: 'ready' | 'timeout' | 'empty'
  cursor: { last_seq: number; updated_at: number }
  sent: { message: Message; duplicate: boolean }[]
  received: Message[]
  received_count: number
  has_more: boolean
}

export interface Peer {
  /** The result of a tool. An error is thrown as the client sees it: `{ code, message, hint }`. */
  call<T = Record<string, unknown>>(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<T>
  /** Joins the topic of this name, which is made if need be; returns its id. */
  join(agent: string, topic: string): Promise<string>
  /** Syncs without a wait, unless `args` says otherwise. */
  sync(topic: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<Sync>
  /** Sends texts in one call and returns their records. */
  send(topic: string, ...texts: string[]): Promise<Message[]>
  /** Every text there is to read now. */
  read(topic: string): Promise<string[]>
}

type Call = (tool: string, args: Record<string, unknown>, signal?: AbortSignal) => Promise<ToolResult>

export function peer(run: Call): Peer {
  const call: Peer['call'] = async <T>(tool: string, args: Record<string, unknown> = {}, signal?: AbortSignal) => {
    const { isError, structuredContent } = await run(tool, args, signal)
    if (isError) throw structuredContent?.error
    return structuredContent as T
  }
  const sync: Peer['sync'] = (topic, args, signal) =>
    call('sync', { topic_id: topic, wait_seconds: 0, ...args }, signal)
  return {
    call,
    sync,
    async join(agent, topic) {
      const { topic_id } = await call<{ topic_id: string }>('topic_create', { name: topic })
      await call('topic_join', { agent_name: agent, topic_id })
      return topic_id
    },
    async send(topic, ...texts) {
      const outbox = texts.map((content_markdown) => ({ content_markdown }))
      // Nothing is read along the way: an acknowledged 0 moves no cursor.
      const { sent } = await sync(topic, { outbox, auto_advance: false, max_items: 1 })
      return sent.map(({ message }) => message)
    },
    async read(topic) {
      const texts: string[] = []
      for (let more = true; more; ) {
        const { received, has_more } = await sync(topic)
        texts.push(...received.map(({ content_markdown }) => content_markdown))
        more = has_more
      }
      return texts
    },
  }
}

export interface BusProcess extends Peer {
  readonly client: Client
  readonly pid: number
  /** Its stderr so far. */
  readonly log: () => string
  /** Sends a signal and resolves once the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

export interface BusOptions {
  storage: string
  era?: EraName
  env?: Record<string, string>
  cwd?: string
  args?: string[]
  later?: Later
}

const afterTest: Later = (work) => onTestFinished(async () => void (await work()))

/** Starts `parley bus` as an MCP client does, with the little environment that the official one passes on. */
export async function startBus(options: BusOptions): Promise<BusProcess> {
  const { storage, era = eras[0], env = {}, cwd = storage, args = [], later = afterTest } = options
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'bus', ...args],
    env: { HOME: storage, STORAGE_ROOT: storage, ...env },
    cwd,
    stderr: 'pipe',
  })
  let log = ''
  transport.stderr?.on('data', (text) => {
    log += text
  })
  const mode = era === '2026-07-28' ? { pin: era } : ('legacy' as const)
  const client = new Client({ name: 'parley-test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const gone = new Promise<void>((resolve) => {
    client.onclose = resolve
  })
  later(() => client.close())
  await client.connect(transport)
  const pid = transport.pid ?? 0
  return {
    ...peer(
      async (name, given, signal) =>
        (await client.callTool({ name, arguments: given }, signal && { signal })) as ToolResult,
    ),
    client,
    pid,
    log: () => log,
    async kill(signal = 'SIGKILL') {
      process.kill(pid, signal)
      await gone
    },
  }
}

/** Some bus processes on one storage folder for all tests of a file. */
export function shareBus(count: number, options: Omit<BusOptions, 'storage' | 'later'> = {}) {
  const ends: (() => Promise<unknown>)[] = []
  const later: Later = (work) => ends.push(work)
  let [storage, peers]: [string, BusProcess[]] = ['', []]
  beforeAll(async () => {
    storage = await temporaryFolder(later)
    peers = await Promise.all(Array.from({ length: count }, () => startBus({ ...options, storage, later })))
  })
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })
  return {
    storage: () => storage,
    peer: (index: number): BusProcess => {
      const found = peers[index]
      if (found === undefined) throw new Error(`there is no bus process ${index}`)
      return found
    },
  }
}

/** A peer that comes by HTTP, by plain calls; `query` begins with a question mark. */
export const httpPeer = ({ url }: { url: string }, query = '', headers: Record<string, string> = {}): Peer =>
  peer((tool, args, signal) => callTool(`${url}/bus/mcp${query}`, tool, args, { headers, ...(signal && { signal }) }))

/** Looks into the file that the peers share, behind their back. */
export function look<Row>(storage: string, sql: string, ...values: (string | number)[]): Row[] {
  const db = new DatabaseSync(join(storage, 'parley.sqlite3'), { readOnly: true, timeout: 5000 })
  try {
    return db.prepare(sql).all(...values) as Row[]
  } finally {
    db.close()
  }
}

/** The agents that wait on a topic now; only the store knows, since a wait writes nothing and no tool tells. */
export function waiting(storage: string, topic: string): string[] {
  const rows = look<{ name: string }>(
    storage,
    `SELECT a.name FROM cursors c JOIN threads t ON t.id = c.thread_id JOIN agents a ON a.id = c.agent_id
     WHERE t.uid = ? AND c.waiting_until > ? ORDER BY a.name`,
    topic,
    Date.now(),
  )
  return rows.map(({ name }) => name)
}

/** Resolves with a process's exit code or signal. */
export const ended = async (child: Parameters<typeof once>[0]): Promise<number | string> => {
  const [code, signal] = await once(child, 'close')
  return code ?? signal
}
