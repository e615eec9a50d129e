/** A worker's side: limits that all workers have in common, and the figures of all in the answer of each. */
import type { Log } from '../base/log.ts'
import type { MeterSnapshot } from '../base/meters.ts'
import type { Hub } from '../core/hub/hub.ts'
import { onClose } from '../core/hub/hub.ts'
import { shareWaits } from '../core/hub/waits.ts'
import type { Limiter, Rates } from '../doors/http/limits/limiter.ts'
import type { FromWorker, ToWorker, WorkerPlace } from './worker-messages.ts'
import { workerVariable } from './worker-messages.ts'

/** The part of a server that it shares with others, as one of several workers. */
export interface WorkerLink {
  /** Whether this one writes the archive. */
  readonly archives: boolean
  limiter(rates: Rates): Limiter
  /** Joins the waits and the figures of this hub to those of the others; `refresh` brings its gauges up to date. */
  join(hub: Hub, refresh: () => Promise<void>): void
}

/** The place of this process, if it is a worker. */
export function workerPlace(env: NodeJS.ProcessEnv): WorkerPlace | undefined {
  const { [workerVariable]: place } = env
  return place === undefined || process.send === undefined ? undefined : (JSON.parse(place) as WorkerPlace)
}

/** To the process that started this one. It may be gone already: then this one is about to end. */
export function tellPrimary(message: FromWorker): void {
  process.send?.(message, undefined, {}, () => {})
}

/** The process that started this one says so. Where that is gone, node:cluster ends this one at once. */
export function onStop(stop: (signal: NodeJS.Signals) => void): void {
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') stop(message.signal)
  })
}

export function linkWorker({ number }: WorkerPlace, log: Log): WorkerLink {
  const asked = new Map<number, (answer: ToWorker) => void>()
  let lastId = 0
  process.on('message', (message: ToWorker) => {
    if (message.kind !== 'taken' && message.kind !== 'gathered') return
    asked.get(message.id)?.(message)
    asked.delete(message.id)
  })
  const ask = (question: (id: number) => FromWorker): Promise<ToWorker> =>
    new Promise((resolve) => {
      const id = ++lastId
      asked.set(id, resolve)
      tellPrimary(question(id))
    })
  return {
    archives: number === 1,
    limiter: (rates) => ({
      async take(who, of) {
        if (rates[of].perMinute === 0) return 0
        const answer = await ask((id) => ({ kind: 'take', id, who, of, rates }))
        return answer.kind === 'taken' ? answer.ms : 0
      },
      close() {},
    }),
    join(hub, refresh) {
      const { metrics } = hub
      const takeWaits = shareWaits(hub, (counts) => tellPrimary({ kind: 'waits', counts }))
      const onMessage = (message: ToWorker) => {
        if (message.kind === 'waits') takeWaits(message.counts)
        if (message.kind !== 'measure') return
        const { id } = message
        refresh()
          // The gauges stay as they are where the database is away.
          .catch(() => {})
          .then(() => metrics.meters.snapshot())
          .then((snapshot) => tellPrimary({ kind: 'measured', id, snapshot }))
          .catch((error: unknown) => log.warn({ err: error }, 'the figures of this worker could not be told'))
      }
      process.on('message', onMessage)
      onClose(hub, async () => {
        process.off('message', onMessage)
      })
      metrics.meters.elsewhere = async (own: MeterSnapshot) => {
        const answer = await ask((id) => ({ kind: 'gather', id, own }))
        if (answer.kind !== 'gathered') return []
        metrics.workers.set(answer.workers)
        metrics.workerRestarts.value = answer.restarts
        return answer.elsewhere
      }
    },
  }
}
