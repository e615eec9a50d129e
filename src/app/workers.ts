/** The process that starts the workers of a server: they share its port, and it shares out connections, limits and figures. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { inMemory, type Limiter } from '../doors/http/limits/limiter.ts'
import type { Shown } from './serve-process.ts'
import type { StoppingOptions } from './stop-on-signal.ts'
import { createGathering } from './worker-figures.ts'
import type { FromWorker, ToWorker, WorkerPlace } from './worker-messages.ts'
import { workerVariable } from './worker-messages.ts'
import { createSharedWaits } from './worker-waits.ts'

interface Starting {
  readonly count: number
  readonly fd: number | undefined
  readonly acceptLoss: boolean
  readonly clock: Clock
  /** Signals that each worker heeds. */
  readonly passedOn: readonly NodeJS.Signals[]
}

/** A worker that dies is started again after this, and later each time; one that lived for a while begins anew. */
const [againMs, longestMs, soundMs] = [100, 30_000, 60_000]

/** A worker promises to end within five seconds after the draining. */
const endMs = 6_000

/** Resolves once all serve; undefined where the first did not come to that. */
export async function startWorkers(
  { count, fd, acceptLoss, clock, passedOn }: Starting,
  { drainMs, log, told, on }: StoppingOptions,
): Promise<Shown | undefined> {
  const gathering = createGathering(clock)
  const waits = createSharedWaits()
  let limiter: Limiter | undefined
  let stopping: NodeJS.Signals | undefined
  let failures = 0

  const tell = (worker: Worker, message: ToWorker): void => {
    if (worker.isConnected()) worker.send(message, () => {})
  }
  const others = (worker: Worker) =>
    Object.values(cluster.workers ?? {}).filter((one) => one !== undefined && one.id !== worker.id) as Worker[]

  function start(
    number: number,
    accepting?: Pick<WorkerPlace, 'acceptLoss'>,
  ): { worker: Worker; ready: Promise<Shown | undefined> } {
    const place: WorkerPlace = { number, ...(fd !== undefined && { fd }), ...accepting }
    const worker = cluster.fork({ [workerVariable]: JSON.stringify(place) })
    const began = clock.monotonic()
    const ready = Promise.withResolvers<Shown | undefined>()
    const share = (changes: ReturnType<typeof waits.take>) => {
      for (const { id, counts } of changes) {
        const other = cluster.workers?.[id]
        if (other !== undefined) tell(other, { kind: 'waits', counts })
      }
    }
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'ready') {
        waits.add(worker.id)
        ready.resolve(message.shown)
      } else if (message.kind === 'waits') share(waits.take(worker.id, message.counts))
      else if (message.kind === 'measured') gathering.measured(worker.id, message)
      else if (message.kind === 'take') {
        const { id, who, of, rates } = message
        limiter ??= inMemory(rates, clock)
        tell(worker, { kind: 'taken', id, ms: limiter.take(who, of) as number })
      } else {
        const { id, own } = message
        const asked = { id: worker.id, own, others: others(worker).map((one) => one.id) }
        const ask = (other: number, id: number) => {
          const one = cluster.workers?.[other]
          if (one !== undefined) tell(one, { kind: 'measure', id })
        }
        void gathering
          .gather(asked, ask)
          .then((elsewhere) => {
            const workers = Object.keys(cluster.workers ?? {}).length
            tell(worker, { kind: 'gathered', id, elsewhere, workers, restarts: gathering.restarts })
          })
          .catch((error: unknown) => log.warn({ err: error }, 'the figures of the workers could not be gathered'))
      }
    })
    worker.once('exit', (code, signal) => {
      ready.resolve(undefined)
      gathering.ended(worker.id)
      share(waits.remove(worker.id))
      if (stopping !== undefined || started === undefined) return
      failures = clock.monotonic() - began > soundMs ? 0 : failures + 1
      const afterMs = Math.min(longestMs, againMs * 2 ** (failures - 1))
      log.error({ worker: number, code, signal, after_ms: afterMs }, 'a worker died; it is started again')
      gathering.restarts++
      clock.after(afterMs, () => {
        if (stopping === undefined) start(number)
      })
    })
    return { worker, ready: ready.promise }
  }

  let forced = false
  on((signal) => {
    const all = Object.values(cluster.workers ?? {}) as Worker[]
    if (forced) return
    if (stopping !== undefined) {
      forced = true
      for (const { process } of all) process.kill('SIGKILL')
      process.exit(1)
    }
    stopping = signal
    log.info({ signal }, 'stopping')
    told()
    void end(all, signal, { clock, log, ms: drainMs + endMs, tell }).then(
      (code) => process.exit(code),
      (error: unknown) => {
        log.error({ err: error }, 'the workers could not be ended')
        process.exit(1)
      },
    )
  })
  for (const signal of passedOn)
    process.on(signal, () => {
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal)
    })

  // The first alone: it brings the database up to date, and says what is wrong with the settings.
  let started: Shown | undefined
  const first = await start(1, { acceptLoss }).ready
  if (first === undefined) return undefined
  started = first
  await Promise.all(Array.from({ length: count - 1 }, (_, n) => start(n + 2).ready))
  return first
}

interface Ending {
  readonly clock: Clock
  readonly log: Log
  readonly ms: number
  tell(worker: Worker, message: ToWorker): void
}

/** The exit code once all have ended; those that do not are cut off. */
async function end(all: readonly Worker[], signal: NodeJS.Signals, { clock, log, ms, tell }: Ending): Promise<number> {
  const cancel = clock.after(ms, () => {
    log.warn('a worker does not end; it is cut off')
    for (const worker of all) if (!worker.isDead()) worker.process.kill('SIGKILL')
  })
  const ends = await Promise.all(
    all.map(async (worker) => {
      const gone = worker.isDead() ? [0] : once(worker, 'exit')
      tell(worker, { kind: 'stop', signal })
      const [code] = await gone
      return code
    }),
  )
  cancel()
  return ends.every((code) => code === 0) ? 0 : 1
}
