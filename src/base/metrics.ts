/** The metrics of Parley, in Prometheus' words (all.metrics.tools, all.metrics.unread). */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const latency = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 21600, 86400]

export type Outcome = 'ok' | 'error' | 'cancelled'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    toolCalls: new Counter({
      name: 'parley_tool_calls_total',
      help: 'Tool calls.',
      labelNames: ['door', 'tool', 'outcome'] as const,
      registers,
    }),
    toolSeconds: new Histogram({
      name: 'parley_tool_seconds',
      help: 'Time a tool call took, its wait included.',
      labelNames: ['door', 'tool'] as const,
      buckets: seconds,
      registers,
    }),
    mailLatency: new Histogram({
      name: 'parley_mail_latency_seconds',
      help: 'Time from the creation of a message to its being taken.',
      buckets: latency,
      registers,
    }),
    waiting: new Gauge({ name: 'parley_waiting', help: 'Calls that wait for something to happen.', registers }),
    sockets: new Gauge({ name: 'parley_sockets', help: 'Open WebSockets of agents.', registers }),
    unread: new Gauge({ name: 'parley_unread', help: 'Deliveries not read yet.', registers }),
  }
}

/** Memory, CPU, garbage collection. Its look at the event loop wakes an idle process: ten times a second, not a hundred (0.5 % of a core). */
export function collectProcessMetrics({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 })
}
