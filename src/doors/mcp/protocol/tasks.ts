/** Calls that run as tasks: started, found again, cancelled, and taken over from a process that is gone. */
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import type { Caller } from '../../../core/access/callers.ts'
import type { Task, TaskStatus } from '../../../core/tasks/tasks.ts'
import { readArguments } from '../args.ts'
import type { CallContext } from '../table.ts'
import { type Result, resultText } from './call.ts'
import type { Service, ToolRow } from './service.ts'

/** Where tasks are kept, for every process. */
export interface TaskStore {
  create(
    caller: Caller,
    task: Pick<Task, 'owner' | 'waiter' | 'door' | 'tool' | 'args' | 'scope' | 'ttlMs'>,
  ): Promise<Task>
  find(caller: Caller, id: string, owner: string): Promise<Task | undefined>
  list(caller: Caller, owner: string, before: string | undefined, limit: number): Promise<Task[]>
  end(
    caller: Caller,
    end: { id: string; status: Exclude<TaskStatus, 'working'>; result?: string },
  ): Promise<Task | undefined>
  /** The task once it has ended. */
  wait(caller: Caller, id: string, owner: string, signals: readonly AbortSignal[]): Promise<Task | undefined>
  /** Tells of tasks that ended, by this process or another. */
  watch(fn: (id: string) => void): () => void
  hold(): Promise<void>
  leave(): Promise<void>
  /** Tasks of these doors whose process is gone: this one runs them from now on. */
  take(doors: readonly string[]): Promise<Task[]>
}

/** How often a process says that it runs its tasks, and looks for those of others. */
const heartbeatMs = 10_000

export type Tasks = ReturnType<typeof createTasks>

interface Running {
  readonly stop: AbortController
  /** Told when the task ends, while its client is there. */
  readonly ended: ((task: Task) => void) | undefined
}

export function createTasks({ clock, log, store }: { clock: Clock; log: Log; store: TaskStore }) {
  // biome-ignore lint/suspicious/noExplicitAny: doors of every scope; each reads its own from the text it wrote
  const services = new Map<string, Service<any>>()
  const running = new Map<string, Running>()
  let closing = false
  let cancelBeat = () => {}

  const failed = (error: unknown) => log.warn({ err: error }, 'tasks could not be looked after; it is tried again')
  const beat = () => {
    if (closing) return
    const held = running.size > 0 ? store.hold() : Promise.resolve()
    void held.then(takeOver).catch(failed)
    cancelBeat = clock.after(heartbeatMs, beat)
  }
  async function takeOver(): Promise<void> {
    if (closing || services.size === 0) return
    for (const task of await store.take([...services.keys()])) run(task)
  }
  const unwatch = store.watch((id) => {
    // Ended by somebody else: cancelled.
    running.get(id)?.stop.abort()
  })

  function run(task: Task, ended?: Running['ended']): void {
    const service = services.get(task.door)
    const row = service?.tools.get(task.tool)
    if (service === undefined || row === undefined || closing) return
    const stop = new AbortController()
    running.set(task.id, { stop, ended })
    void settle(service, row, task, stop.signal)
      .catch((error: unknown) => log.error({ err: error, task: task.id }, 'a task could not be ended'))
      .finally(() => running.delete(task.id))
  }

  async function settle<Scope>(
    service: Service<Scope>,
    row: ToolRow<Scope>,
    task: Task,
    signal: AbortSignal,
  ): Promise<void> {
    const scope = JSON.parse(task.scope) as Scope
    const context: CallContext<Scope> = {
      caller: task.caller,
      scope,
      client: undefined,
      session: undefined,
      signal,
      stopping: signal,
      task: { id: task.id, at: task.createdAt },
      // Its answer is in the store: it cannot be lost, and nobody waits for it to be out. What its client is to be told
      // only once it has the answer is done by `handOut`.
      ifLost: () => {},
      whenOut: () => {},
    }
    const [at, started] = [clock.now(), clock.monotonic()]
    let result: Result
    try {
      result = { ok: true, value: await row.tool.run(readArguments(row.tool, JSON.parse(task.args)), context) }
    } catch (thrown) {
      result = { ok: false, error: service.word(thrown, scope, row) }
    }
    // Stopped in the middle: it is cancelled, or another process goes on with it.
    if (signal.aborted) return
    row.ended({ outcome: result.ok ? 'ok' : 'error', at, ms: Math.round(clock.monotonic() - started), args: task.args })
    const status = result.ok ? 'completed' : 'failed'
    const { text } = resultText(row, result)
    const done = await store.end(task.caller, { id: task.id, status, result: text })
    if (done !== undefined) running.get(task.id)?.ended?.(done)
  }

  return {
    store,
    /** A door whose tasks this process may run. */
    serve<Scope>(service: Service<Scope>): void {
      if (!service.door.tools.some(({ task }) => task !== undefined)) return
      services.set(service.door.name, service)
      if (services.size === 1) beat()
    },
    async start(caller: Caller, task: Parameters<TaskStore['create']>[1], ended?: (task: Task) => void): Promise<Task> {
      const made = await store.create(caller, task)
      run(made, ended)
      return made
    },
    async cancel(caller: Caller, id: string): Promise<Task | undefined> {
      const ended = await store.end(caller, { id, status: 'cancelled' })
      const mine = running.get(id)
      mine?.stop.abort()
      if (ended !== undefined) mine?.ended?.(ended)
      return ended
    },
    /** Tasks that run go on in another process, or in this one after its next start. */
    async close(): Promise<void> {
      if (closing) return
      closing = true
      cancelBeat()
      unwatch()
      const had = running.size > 0
      for (const { stop } of running.values()) stop.abort()
      if (had) await store.leave().catch(failed)
    },
  }
}
