/** The account of a call that has ended: metrics, counts, and for some doors the agent it concerned. */
import type { Outcome } from '../../../base/metrics.ts'
import type { Door, Tool } from '../table.ts'
import { briefly } from '../usage.ts'
import type { Engine } from './engine.ts'
import { isRecord } from './json.ts'

export interface Ended {
  /** The request that brought the call, as the log names it; a client on stdio makes none. */
  readonly reqId?: string | undefined
  readonly outcome: Outcome
  readonly at: number
  readonly ms: number
  /** As the client wrote them. */
  readonly args: unknown
}

/** Binding labels and counters once saves their look-up on every call. */
export function openAccount<Scope>(
  door: Door<Scope>,
  { name, cluster }: Pick<Tool<Scope>, 'name' | 'cluster'>,
  { metrics, usage, log }: Engine,
): (call: Ended) => void {
  const seconds = metrics.toolSeconds.labels(door.name, name)
  const calls = {
    ok: metrics.toolCalls.labels(door.name, name, 'ok'),
    error: metrics.toolCalls.labels(door.name, name, 'error'),
    cancelled: metrics.toolCalls.labels(door.name, name, 'cancelled'),
  }
  const tool = usage.count(door.name, name, cluster)
  return ({ reqId, outcome, at, ms, args }) => {
    calls[outcome].inc()
    seconds.observe(ms / 1000)
    tool.calls++
    if (outcome === 'error') tool.errors++
    if (!usage.noting) return
    const subject = isRecord(args) ? door.subject?.(name, args) : undefined
    const [project, agent] = [briefly(subject?.project), briefly(subject?.agent)]
    if (door.subject !== undefined) usage.note({ tool, at, ms, outcome, project, agent })
    if (log.isLevelEnabled('debug'))
      log.debug({ reqId, door: door.name, tool: name, cluster, outcome, ms, project, agent }, 'a tool was called')
  }
}
