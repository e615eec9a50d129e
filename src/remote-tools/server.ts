/** One server of others: connected when it is there, its tools known, its answers bounded. */
import type { CallToolResult, Client, Tool, Transport, VersionNegotiationMode } from '@modelcontextprotocol/client'
import type { Clock } from '../base/clock.ts'
import { HubError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { anything, flatSchema, plainAnnotations, plainText, remoteToolName, type ToolHints } from './cleaning.ts'
import type { RemoteServer } from './config.ts'
import { failedThere, reasonOf, timedOut, tooLarge, unavailable } from './failures.ts'
import { RunningCalls, transportTo } from './transports.ts'

export interface RemoteTool {
  readonly server: string
  /** As it is called here. */
  readonly name: string
  /** As it is called there. */
  readonly remote: string
  /** False as long as its server was never there: it may be called, and there is nothing to show of it. */
  readonly known: boolean
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly annotations: ToolHints
}

export interface RemoteOptions {
  readonly name: string
  readonly settings: RemoteServer
  readonly version: string
  readonly clock: Clock
  readonly log: Log
}

/** After a failure the next attempt waits for this long, twice as long each time; a connection that lasted begins anew. */
const retryMs = { first: 1000, most: 60_000 } as const
/** Tools that are looked at, and pages of their list. */
const mostTools = 1000
const mostPages = 20
/** A list of tools is read again after this, by the next call. */
const freshMs = 5 * 60_000
/** A handshake has several steps, each of which may take as long as a call, and not all of which end by themselves. */
const handshakeSteps = 3

interface Remote {
  /** As they were when the server was last there. */
  tools(): readonly RemoteTool[]
  call(tool: RemoteTool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>
  close(): Promise<void>
}

export function openRemote({ name, settings, version, clock, log }: RemoteOptions): Remote {
  const { allow, timeout_seconds, max_bytes: mostBytes } = settings
  const timeoutMs = timeout_seconds * 1000
  const calls = new RunningCalls(() => tooLarge(name, mostBytes))
  /** The allowed tools, until the server has listed its own. */
  let tools: readonly RemoteTool[] = toolsOf(allow.map((remote) => ({ name: remote })))
  let readAt = Number.NEGATIVE_INFINITY
  let mode: VersionNegotiationMode = 'auto'
  let connected: Promise<Client> | undefined
  /** The connection that is being made or is there. */
  let transport: Transport | undefined
  let live: { readonly client: Client; readonly since: number } | undefined
  let pauseMs: number = retryMs.first
  let closed = false
  let cancelRetry: (() => void) | undefined

  async function connect(): Promise<Client> {
    try {
      return await shakeHands()
    } catch (error) {
      // A program of the older kind may end at the question for its version: it is asked as such programs are.
      const older = 'command' in settings && mode === 'auto' && (error as { code?: unknown }).code === negotiationFailed
      if (!older || closed) throw error
      mode = 'legacy'
      return await shakeHands().catch((failure: unknown) => {
        mode = 'auto'
        throw failure
      })
    }
  }

  async function shakeHands(): Promise<Client> {
    const { Client } = await import('@modelcontextprotocol/client')
    const client = new Client({ name: 'parley', version }, { versionNegotiation: { mode } })
    client.onclose = () => lost(client)
    const way = await transportTo(settings, { clock, calls })
    if (closed) throw new Error('closed')
    transport = way
    const cancel = clock.after(handshakeSteps * timeoutMs, () => void way.close().catch(nothing))
    try {
      await client.connect(way, { timeout: timeoutMs })
      await readTools(client)
    } catch (error) {
      await way.close().catch(nothing)
      throw error
    } finally {
      cancel()
    }
    live = { client, since: clock.monotonic() }
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
    const missing = allow.filter((one) => !found.some((tool) => tool.name === one))
    if (missing.length > 0)
      log.warn({ server: name, missing }, 'a remote MCP server has not all tools that are allowed')
    const wanted = new Set(allow)
    tools = toolsOf(found.filter((tool) => wanted.has(tool.name)))
  }

  /** Under names that fit and that no other has. */
  function toolsOf(found: readonly (Tool | Pick<Tool, 'name'>)[]): RemoteTool[] {
    const chosen = new Map<string, RemoteTool>()
    for (const tool of found) {
      const called = remoteToolName(name, tool.name)
      const known = 'inputSchema' in tool
      if (called !== undefined && !chosen.has(called))
        chosen.set(called, {
          server: name,
          name: called,
          remote: tool.name,
          known,
          description: known ? plainText(tool.description) : '',
          schema: known ? flatSchema(tool.inputSchema) : anything,
          annotations: plainAnnotations(known ? tool.annotations : undefined),
        })
      else if (known)
        log.warn(
          { server: name },
          'a tool of a remote MCP server is left out: its name does not fit, or is there twice',
        )
    }
    return [...chosen.values()]
  }

  /** One connection for all; a failed one is tried again later, beside the calls. */
  function open(): Promise<Client> {
    if (closed) return Promise.reject(unavailable(name))
    connected ??= connect().catch((error: unknown) => {
      connected = undefined
      tryLater(reasonOf(error))
      throw unavailable(name)
    })
    return connected
  }

  /** A connection that breaks while it is made is no concern of this: whoever makes it is told. */
  function lost(client: Client): void {
    if (live?.client !== client) return
    if (clock.monotonic() - live.since > retryMs.most) pauseMs = retryMs.first
    live = connected = undefined
    tryLater({ reason: 'the connection has ended' })
  }

  function tryLater(reason: object): void {
    if (closed) return
    log.warn({ server: name, ...reason }, 'a remote MCP server is away')
    cancelRetry?.()
    cancelRetry = clock.after(pauseMs, begin)
    pauseMs = Math.min(pauseMs * 2, retryMs.most)
  }

  /** A failure is in the log, and tried again. */
  const begin = (): void => void open().catch(nothing)

  begin()
  return {
    tools: () => tools,
    async call({ remote, name: called }, args, signal) {
      const ended = new AbortController()
      const cancel = clock.after(timeoutMs, () => ended.abort(timedOut(name, timeout_seconds)))
      const stop = () => ended.abort(signal.reason)
      signal.addEventListener('abort', stop)
      try {
        return await calls.run(ended, async () => {
          const client = await orAborted(open(), ended.signal)
          if (clock.monotonic() - readAt > freshMs) await orAborted(readTools(client), ended.signal)
          const request = { method: 'tools/call', params: { name: remote, arguments: args } } as const
          const result = (await orAborted(
            client.request(request, { signal: ended.signal, timeout: 0x7fffffff }),
            ended.signal,
          )) as CallToolResult
          if (Buffer.byteLength(JSON.stringify(result)) > mostBytes) throw tooLarge(name, mostBytes)
          if (result.isError === true) throw failedThere(called, result.content)
          return result
        })
      } catch (error) {
        const reason: unknown = ended.signal.aborted ? ended.signal.reason : error
        if (reason instanceof HubError) throw reason
        log.debug({ server: name, ...reasonOf(error) }, 'a bridged call failed')
        // It does not know the session any more: the next call begins another one.
        if ((error as { status?: unknown }).status === 404) await transport?.close().catch(nothing)
        throw unavailable(name)
      } finally {
        cancel()
        signal.removeEventListener('abort', stop)
      }
    },
    async close() {
      closed = true
      cancelRetry?.()
      await transport?.close().catch(nothing)
      await connected?.catch(nothing)
    },
  }
}

const negotiationFailed = 'ERA_NEGOTIATION_FAILED'

const nothing = (): void => {}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    const done = () => signal.removeEventListener('abort', stop)
    work.then(resolve, reject).then(done, done)
  })
}
