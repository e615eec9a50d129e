/** Liveness, readiness and metrics, for an operator's machines. */

import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import { HubError } from '../../base/errors.ts'
import { textType } from '../../base/meters.ts'
import type { Metrics } from '../../base/metrics.ts'
import { needOversight } from '../../core/access/rules.ts'

export interface HealthOptions {
  readonly clock: Clock
  readonly metrics: Metrics
  /** Rejects while requests could not be served: the store does not answer, say. */
  ready(): Promise<void>
  /** Whether the server is about to stop: no balancer shall send it anything more. */
  stopping?(): boolean
  /** Faults of a server that still answers requests. */
  warnings?(): readonly string[]
  /** An id that tells stores apart: commands learn by it whether this server works on the store that they look into. */
  store?(): Promise<string>
  /** Brings gauges up to date before they are shown. */
  refresh(): Promise<void>
}

const patienceMs = 2000

export function addHealth(
  app: FastifyInstance,
  { clock, metrics, ready, stopping = () => false, warnings = () => [], store, refresh }: HealthOptions,
): void {
  // Some balancers probe with HEAD.
  const probe = { exposeHeadRoute: true }
  app.get('/health/liveness', probe, async () => ({ status: 'alive' }))

  app.get('/health/readiness', probe, async (_request, reply) => {
    if (stopping()) return reply.code(503).send({ status: 'stopping' })
    const outcome = await inTime(clock, ready)
    if (outcome === 'done') {
      const [amiss, id] = [warnings(), await store?.().catch(() => undefined)]
      if (id !== undefined) reply.header('x-parley-store', id)
      return { status: 'ready', ...(amiss.length > 0 && { warnings: amiss }) }
    }
    return reply.code(503).send({ status: 'unavailable', ...reasonOf(outcome) })
  })

  app.get('/metrics', async (request, reply) => {
    needOversight(request.caller)
    // A store that does not answer is no reason to show nothing: it is when figures are wanted most.
    await inTime(clock, refresh)
    return reply.type(textType).send(await metrics.meters.text())
  })
}

/** The error of `work`, or 'late' if it takes too long. */
function inTime(clock: Clock, work: () => Promise<void>): Promise<unknown> {
  return new Promise((resolve) => {
    const cancel = clock.after(patienceMs, () => resolve('late'))
    work()
      .then(() => resolve('done'), resolve)
      .finally(cancel)
  })
}

/** Why the storage fails, and the next step. Other errors may hold secrets: nothing is told of them. */
const reasonOf = (error: unknown): { reason?: string; hint?: string } =>
  error instanceof HubError && error.code === 'STORAGE_FAILED'
    ? { reason: error.message, ...(error.hint !== undefined && { hint: error.hint }) }
    : {}
