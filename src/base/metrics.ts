/** The metrics of Parley, in Prometheus' words (all.metrics.tools, all.metrics.unread). */
import { Meters } from './meters.ts'

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const latency = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 21600, 86400]

export type Outcome = 'ok' | 'error' | 'cancelled'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const meters = new Meters()
  return {
    meters,
    toolCalls: meters.counter({
      name: 'parley_tool_calls_total',
      help: 'Tool calls.',
      labels: ['door', 'tool', 'outcome'],
    }),
    toolSeconds: meters.histogram(
      {
        name: 'parley_tool_seconds',
        help: 'Time a tool call took, its wait included.',
        labels: ['door', 'tool'],
      },
      seconds,
    ),
    requests: meters.counter({
      name: 'parley_requests_total',
      help: 'HTTP requests that were answered.',
      labels: ['method', 'route', 'status'],
    }),
    refusedCredentials: meters.counter({
      name: 'parley_credentials_refused_total',
      help: 'Requests that were refused for their credentials: none, a wrong key, a wrong token, or too many wrong ones.',
      labels: ['kind'],
    }),
    mailLatency: meters
      .histogram(
        {
          name: 'parley_mail_latency_seconds',
          help: 'Time from the creation of a message to its being taken.',
        },
        latency,
      )
      .labels(),
    waiting: meters.gauge({ name: 'parley_waiting', help: 'Calls that wait for something to happen.' }).labels(),
    sockets: meters.gauge({ name: 'parley_sockets', help: 'Open WebSockets of agents.' }).labels(),
    loopsPaused: meters
      .counter({ name: 'parley_loops_paused_total', help: 'Pauses of waking by the loop guard.' })
      .labels(),
    spansLost: meters
      .counter({ name: 'parley_spans_lost_total', help: 'Spans of traces that did not reach the collector.' })
      .labels(),
    unread: meters.gauge({ name: 'parley_unread', help: 'Deliveries not read yet.' }).labels(),
  }
}
