/** The engine that all doors share over MCP: clock, log, sessions, open exchanges and streams, and the way to stop. */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../../base/clock.ts'
import { HubError } from '../../../base/errors.ts'
import type { Ids } from '../../../base/ids.ts'
import type { Log } from '../../../base/log.ts'
import type { Metrics } from '../../../base/metrics.ts'
import type { Admission } from '../../http/admission.ts'
import { Usage } from '../usage.ts'
import type { RequestState } from './dialogue.ts'
import { createSessions, type SessionOptions, type Sessions } from './sessions.ts'
import { createSeal, type Seal } from './signed-text.ts'
import { createStreams, type Streams } from './streams.ts'
import { createTasks, type TaskStore, type Tasks } from './tasks.ts'

export interface EngineOptions {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly metrics: Metrics
  /** Where calls are counted and noted; by default they are counted. */
  readonly usage?: Usage
  /** Parley's version, which clients are told. */
  readonly version: string
  /** Holds callers to their roles and limits; absent where every caller may do all. */
  readonly admission?: Admission | undefined
  /** Absent where no client can come back: on stdio. */
  readonly sessions?: SessionOptions
  /** Where calls that run as tasks are kept; without it no call does. */
  readonly tasks?: TaskStore
  /** How long running calls may take to end once the server stops. */
  readonly graceMs?: number
}

export interface Engine {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly metrics: Metrics
  readonly usage: Usage
  readonly version: string
  readonly admission: Admission | undefined
  readonly sessions: Sessions | undefined
  readonly tasks: Tasks | undefined
  readonly streams: Streams
  /** The answers that a client has given so far, kept by the client itself. */
  readonly states: Seal<RequestState>
  /** Every request whose answer is not out yet. */
  readonly exchanges: Set<Losable>
  readonly stopping: AbortSignal
  /** Ends waiting calls with their empty result and streams politely; resolves when every answer is out. Idempotent. */
  close(): Promise<void>
}

export function createEngine({
  clock,
  ids,
  log,
  metrics,
  usage = new Usage({ noting: false }),
  version,
  admission,
  sessions,
  tasks,
  graceMs = 5000,
}: EngineOptions): Engine {
  const stop = new AbortController()
  // One listener for each waiting call is normal, not a leak.
  setMaxListeners(0, stop.signal)
  const exchanges = new Drainable()
  const streams = createStreams(clock)
  let closing: Promise<void> | undefined
  const engine: Engine = {
    clock,
    ids,
    log,
    metrics,
    usage,
    version,
    admission,
    sessions: sessions && createSessions({ clock, ids, ...sessions }),
    tasks: tasks && createTasks({ clock, log, store: tasks }),
    streams,
    // A client on stdio has one process, and takes its state nowhere else.
    states: createSeal(sessions?.secret ?? ids.secret(), 'mcp-request-state'),
    exchanges,
    stopping: stop.signal,
    close() {
      closing ??= (async () => {
        stop.abort(new HubError('SHUTTING_DOWN', 'Parley is shutting down.'))
        engine.sessions?.close()
        await engine.tasks?.close()
        const late = Promise.withResolvers<void>()
        const cancel = clock.after(graceMs, late.resolve)
        await Promise.race([exchanges.empty(), late.promise])
        cancel()
        // Calls that have not ended by now are given up; only their undos are awaited.
        await Promise.all([...exchanges].map((exchange) => exchange.lose()))
        streams.close()
      })()
      return closing
    },
  }
  return engine
}

interface Losable {
  lose(): Promise<void> | undefined
}

/** A set that says when it is empty. */
class Drainable extends Set<Losable> {
  #waiting: (() => void)[] = []

  override delete(item: Losable): boolean {
    const had = super.delete(item)
    if (this.size === 0 && this.#waiting.length > 0) for (const resolve of this.#waiting.splice(0)) resolve()
    return had
  }

  empty(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
}
