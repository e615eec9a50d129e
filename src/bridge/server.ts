/** One server of others: connected when it is there, its tools known, its answers bounded. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { CallToolResult, Client, Tool, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { bridgedName, flatSchema, plainText } from './cleaning.ts'
import type { BridgedServer } from './config.ts'

export interface BridgedTool {
  readonly server: string
  /** As it is called here. */
  readonly name: string
  /** As it is called there. */
  readonly remote: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

export interface RemoteOptions {
  readonly name: string
  readonly settings: BridgedServer
  readonly version: string
  readonly clock: Clock
  readonly log: Log
}

/** After a failure the next attempt waits for this long, twice as long each time. */
const retryMs = { first: 1000, most: 60_000 } as const
/** Tools that are looked at, and pages of their list. */
const mostTools = 1000
const mostPages = 20
/** A list of tools is read again after this, by the next call. */
const freshMs = 5 * 60_000

export interface Remote {
  /** As they were when the server was last there. */
  tools(): readonly BridgedTool[]
  call(tool: BridgedTool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>
  close(): Promise<void>
}

export function openRemote({ name, settings, version, clock, log }: RemoteOptions): Remote {
  const { allow, timeout_seconds, max_bytes: mostBytes } = settings
  const timeoutMs = timeout_seconds * 1000
  const wanted = new Set(allow)
  /** The call that a response belongs to: a response that grows too large ends it. */
  const calls = new AsyncLocalStorage<AbortController>()
  let tools: readonly BridgedTool[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let connected: Promise<Client> | undefined
  let pauseMs: number = retryMs.first
  let closed = false
  let cancelRetry: (() => void) | undefined

  async function connect(): Promise<Client> {
    const { Client } = await import('@modelcontextprotocol/client')
    const client = new Client({ name: 'parley', version }, { versionNegotiation: { mode: 'auto' } })
    client.onclose = () => lost(client)
    try {
      await client.connect(await transportTo(settings, { calls, mostBytes }), { timeout: timeoutMs })
      await readTools(client)
    } catch (error) {
      await client.close().catch(() => {})
      throw error
    }
    pauseMs = retryMs.first
    return client
  }

  async function readTools(client: Client): Promise<void> {
    const found: Tool[] = []
    let cursor: string | undefined
    for (let page = 0; page < mostPages && found.length < mostTools; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const list = await client.request({ method: 'tools/list', params }, { timeout: timeoutMs })
      found.push(...list.tools)
      cursor = list.nextCursor
      if (cursor === undefined) break
    }
    readAt = clock.monotonic()
    tools = choose(found)
  }

  /** Those that are allowed, under names that fit and that no other has. */
  function choose(found: readonly Tool[]): BridgedTool[] {
    const chosen = new Map<string, BridgedTool>()
    for (const { name: remote, description, inputSchema } of found.filter((tool) => wanted.has(tool.name))) {
      const called = bridgedName(name, remote)
      if (called === undefined || chosen.has(called)) {
        log.warn({ server: name }, 'a tool of a bridged server is left out: its name does not fit, or is there twice')
        continue
      }
      const text = plainText(description)
      chosen.set(called, { server: name, name: called, remote, description: text, schema: flatSchema(inputSchema) })
    }
    const missing = allow.filter((one) => !found.some((tool) => tool.name === one))
    if (missing.length > 0) log.warn({ server: name, missing }, 'a bridged server has not all tools that are allowed')
    return [...chosen.values()]
  }

  /** One connection for all; a failed one is tried again later, beside the calls. */
  function open(): Promise<Client> {
    connected ??= connect().catch((error: unknown) => {
      connected = undefined
      if (!closed) {
        log.warn({ server: name, reason: (error as Error).name }, 'a bridged server is away')
        cancelRetry?.()
        cancelRetry = clock.after(pauseMs, () => void open().catch(() => {}))
        pauseMs = Math.min(pauseMs * 2, retryMs.most)
      }
      throw unavailable(name)
    })
    return connected
  }

  function lost(client: Client): void {
    void connected?.then((current) => {
      if (current !== client) return
      connected = undefined
      if (!closed) cancelRetry = clock.after(pauseMs, () => void open().catch(() => {}))
    })
  }

  void open().catch(() => {})
  return {
    tools: () => tools,
    async call({ remote }, args, signal) {
      const ended = new AbortController()
      const cancel = clock.after(timeoutMs, () => ended.abort(timedOut(name, timeout_seconds)))
      const stop = () => ended.abort(signal.reason)
      signal.addEventListener('abort', stop)
      try {
        return await calls.run(ended, async () => {
          const client = await orAborted(open(), ended.signal)
          if (clock.monotonic() - readAt > freshMs) await orAborted(readTools(client), ended.signal)
          const request = { method: 'tools/call', params: { name: remote, arguments: args } } as const
          const result = await orAborted(
            client.request(request, { signal: ended.signal, timeout: 0x7fffffff }),
            ended.signal,
          )
          if (Buffer.byteLength(JSON.stringify(result)) > mostBytes) throw tooLarge(name, mostBytes)
          return result as CallToolResult
        })
      } catch (error) {
        const reason: unknown = ended.signal.aborted ? ended.signal.reason : error
        if (reason instanceof HubError) throw reason
        log.debug({ server: name, err: error }, 'a bridged call failed')
        throw unavailable(name)
      } finally {
        cancel()
        signal.removeEventListener('abort', stop)
      }
    },
    async close() {
      closed = true
      cancelRetry?.()
      await connected?.then(
        (client) => client.close(),
        () => {},
      )
    },
  }
}

async function transportTo(
  settings: BridgedServer,
  { calls, mostBytes }: { calls: AsyncLocalStorage<AbortController>; mostBytes: number },
): Promise<Transport> {
  if ('command' in settings) {
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    const { command, args, env } = settings
    return new StdioClientTransport({ command, args, env, stderr: 'ignore' })
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const { url, headers } = settings
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: async (input, init) => {
      // A server that sends its callers elsewhere does not take its credentials along.
      const response = await fetch(input, { ...init, redirect: 'error' })
      return init?.method === 'POST'
        ? bounded(response, mostBytes, () => calls.getStore()?.abort(tooLarge('', mostBytes)))
        : response
    },
  })
}

/** A response that ends with an error once it is too large: it is never in memory as a whole. */
function bounded(response: Response, mostBytes: number, exceeded: () => void): Response {
  if (response.body === null) return response
  let size = 0
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        size += part.length
        // The envelope around the result is not its own.
        if (size <= mostBytes + 4096) return controller.enqueue(part)
        exceeded()
        controller.error(new Error('too large'))
      },
    }),
  )
  return new Response(counted, response)
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

const unavailable = (name: string): HubError =>
  new HubError('BRIDGE_UNAVAILABLE', `The server ${name} is away, or did not understand the call.`, {
    hint: 'Try again later; the operator sees the reason in the log.',
  })

const timedOut = (name: string, seconds: number): HubError =>
  new HubError('BRIDGE_TIMEOUT', `The server ${name} gave no answer within ${seconds} s.`, {
    hint: 'It may have carried the call out all the same: look before you repeat it.',
  })

const tooLarge = (name: string, bytes: number): HubError =>
  new HubError('BRIDGE_TOO_LARGE', `The answer${name && ` of ${name}`} has more than ${bytes} bytes.`, {
    hint: 'Ask for less, with arguments that narrow the answer down.',
  })
