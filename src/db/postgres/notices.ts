/** The connection over which the nodes on one PostgreSQL database wake each other. */
import { Client, type ClientConfig } from 'pg'
import { pause, systemClock } from '../../base/clock.ts'
import { shuttingDown } from '../faults.ts'
import type { Wake } from '../port.ts'
import { needWrites, type Servers } from './servers.ts'

/** A connection that died in silence is noticed after a heartbeat and the time its answer may take. */
const usualHeartbeatMs = 5_000
const answerTimeoutMs = 3_000

/** The first announcement goes out at once; those that follow it within this time go together. */
const gatherMs = 2

const firstPauseMs = 50
const longestPauseMs = 2_000

/**
 * One loop does everything in turn: it connects, sends the announcements, looks whether the connection and the other nodes
 * still live, and begins anew when the connection does not. Announcements gather while one is on its way.
 */
export class PostgresNotices {
  readonly #servers: Servers
  readonly #channel: string
  readonly #heartbeatMs: number
  readonly #wakes = new Set<Wake>()
  readonly #announced = new Set<string>()
  readonly #listening = Promise.withResolvers<void>()
  readonly #closing = new AbortController()
  #loop: Promise<void> | undefined
  #connectedBefore = false
  #wake = () => {}
  /** Called when a connection was lost and is there again. */
  reconnected = () => {}
  /** The backends of the nodes that were there at the last look, and whether one had gone then. */
  #nodes = new Set<number>()
  #missed = false

  constructor(servers: Servers, channel: string, { heartbeatMs = usualHeartbeatMs } = {}) {
    this.#servers = servers
    this.#channel = channel
    this.#heartbeatMs = heartbeatMs
    // It may be that nobody waits for it.
    this.#listening.promise.catch(() => {})
  }

  async add(wake: Wake): Promise<() => void> {
    if (this.#closing.signal.aborted) throw shuttingDown()
    this.#wakes.add(wake)
    this.#start()
    await this.#listening.promise
    return () => this.#wakes.delete(wake)
  }

  announce(channels: readonly string[]): void {
    if (this.#closing.signal.aborted) return
    if (this.#announced.size <= mostChannels) for (const channel of channels) this.#announced.add(channel)
    this.#start()
    this.#wake()
  }

  /** Sends the announcements, if the server can be reached, and ends the connection. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#listening.reject(shuttingDown())
    this.#wake()
    await this.#loop
  }

  #start(): void {
    this.#loop ??= this.#run()
  }

  async #run(): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
      let client: Client | undefined
      try {
        await this.#servers.find()
        client = new Client(this.#settings())
        const lost = new AbortController()
        client.on('error', () => {
          lost.abort()
          this.#wake()
        })
        await this.#connect(client)
        pauseMs = firstPauseMs
        await this.#serve(client, lost.signal)
      } catch {
        // Wake-ups may get lost. All listeners are told to look, once there is a connection again.
        this.#servers.forget()
      } finally {
        await client?.end().catch(() => {})
      }
      if (this.#closing.signal.aborted) return
      await pause(pauseMs, this.#closing.signal)
    }
  }

  #settings(): ClientConfig {
    return { ...this.#servers.chosen, connectionTimeoutMillis: answerTimeoutMs, query_timeout: answerTimeoutMs }
  }

  async #connect(client: Client): Promise<void> {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const own = rows[0]?.pid
    client.on('notification', ({ processId, payload }) => {
      if (processId !== own) this.#tell(channelsIn(payload))
    })
    // A notice is not worth an fsync. The name is how nodes know of each other.
    await client.query(`SET synchronous_commit = off; SET application_name = ${this.#channel}`)
    await client.query(`LISTEN ${this.#channel}`)
    this.#listening.resolve()
    if (this.#connectedBefore) {
      this.reconnected()
      this.#tell(undefined)
    }
    this.#connectedBefore = true
  }

  async #serve(client: Client, lost: AbortSignal): Promise<void> {
    for (let lookAt = 0; ; ) {
      lost.throwIfAborted()
      if (performance.now() >= lookAt) {
        await this.#lookAround(client)
        lookAt = performance.now() + this.#heartbeatMs
      }
      if (this.#announced.size > 0) {
        await this.#send(client)
        await pause(gatherMs, this.#closing.signal)
      } else if (this.#closing.signal.aborted) return
      else await this.#idle(Math.max(0, lookAt - performance.now()))
    }
  }

  /**
   * A node that dies between a commit and its announcement would leave those asleep whom it had mail for. So everybody is told
   * to look when a node has gone; one heartbeat later, since the server may still have been at its last commits.
   */
  async #lookAround(client: Client): Promise<void> {
    if (this.#servers.change) await needWrites(client)
    const text = 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1'
    const { rows } = await client.query<{ pid: number }>({ name: 'nodes', text, values: [this.#channel] })
    const nodes = new Set(rows.map(({ pid }) => pid))
    if (this.#missed) this.#tell(undefined)
    this.#missed = [...this.#nodes].some((pid) => !nodes.has(pid))
    this.#nodes = nodes
  }

  async #send(client: Client): Promise<void> {
    const channels = [...this.#announced]
    this.#announced.clear()
    try {
      const text = 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) payload'
      await client.query({ name: 'notify', text, values: [this.#channel, payloadsOf(channels)] })
    } catch (error) {
      for (const channel of channels) this.#announced.add(channel)
      throw error
    }
  }

  #idle(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = systemClock.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  #tell(channels: readonly string[] | undefined): void {
    for (const wake of this.#wakes) wake(channels)
  }
}

/** A NOTIFY carries fewer than 8000 bytes. */
const payloadBytes = 7_900

/** Beyond this, waking everybody is cheaper than naming the channels. */
const mostChannels = 1_000

/** For everybody: an empty payload. */
const everything = ''

/** JSON arrays that fit into a notice each. */
export function payloadsOf(channels: readonly string[]): string[] {
  if (channels.length > mostChannels) return [everything]
  const payloads: string[] = []
  let parts: string[] = []
  let size = 2
  for (const channel of channels) {
    const part = JSON.stringify(channel)
    const bytes = Buffer.byteLength(part) + 1
    if (bytes + 2 > payloadBytes) return [everything]
    if (size + bytes > payloadBytes) {
      payloads.push(`[${parts}]`)
      parts = []
      size = 2
    }
    parts.push(part)
    size += bytes
  }
  payloads.push(`[${parts}]`)
  return payloads
}

/** Undefined also for what is not ours: anybody may send a notice. */
export function channelsIn(payload: string | undefined): string[] | undefined {
  try {
    const channels: unknown = JSON.parse(payload ?? everything)
    return Array.isArray(channels) ? channels.filter((channel) => typeof channel === 'string') : undefined
  } catch {
    return undefined
  }
}
