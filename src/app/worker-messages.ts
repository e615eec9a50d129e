/** The messages between the workers of a server and the process that started them. */
import type { MeasuredElsewhere, MeterSnapshot } from '../base/meters.ts'
import type { WaitCounts } from '../core/hub/waits.ts'
import type { Counted, Rates } from '../doors/http/limits/limiter.ts'
import type { Shown } from './serve-process.ts'

/** From a worker. An `id` is the worker's own, and comes back with the answer. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly shown: Shown }
  | { readonly kind: 'waits'; readonly counts: WaitCounts }
  | { readonly kind: 'take'; readonly id: number; readonly who: string; readonly of: Counted; readonly rates: Rates }
  | { readonly kind: 'gather'; readonly id: number; readonly own: MeterSnapshot }
  | { readonly kind: 'measured'; readonly id: number; readonly snapshot: MeterSnapshot }

export type ToWorker =
  | { readonly kind: 'stop'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'waits'; readonly counts: WaitCounts }
  | { readonly kind: 'taken'; readonly id: number; readonly ms: number }
  | { readonly kind: 'measure'; readonly id: number }
  | ({ readonly kind: 'gathered'; readonly id: number } & Gathered)

/** The figures of the other workers, and how many workers there are. */
export interface Gathered {
  readonly elsewhere: readonly MeasuredElsewhere[]
  readonly workers: number
  readonly restarts: number
}

/** How a worker is told who it is: a variable of its environment. */
export const workerVariable = 'PARLEY_WORKER'

export interface WorkerPlace {
  /** The first is started before the others, and writes the archive. */
  readonly number: number
  /** The socket that systemd has opened, in the process that has started the worker. */
  readonly fd?: number | undefined
  /** Said to one start of one worker: what is lost later was not accepted. */
  readonly acceptLoss?: boolean
}
