/** Promises about traces, metrics and logs, for whoever runs a server. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const observability = [
  { id: 'serve.traces.message', spec: 'mail.md Configuration', says: 'A send at one node has a span for each step, and the span that delivers it at another links to it.' },
  { id: 'serve.traces.wait', spec: 'mail.md Configuration', says: 'The spans of a call that waits end with the wait as an event; its wake-up is a span in the same trace.' },
  { id: 'serve.traces.parent', spec: 'mail.md Configuration', says: 'A traceparent that comes by header, or in _meta of MCP, is the parent of its request or call.' },
  { id: 'serve.traces.content', spec: 'mail.md Configuration', says: 'No body, subject, token, query or name of an agent or project is in a trace.' },
  { id: 'serve.traces.off', spec: 'mail.md Configuration', says: 'Without HTTP_OTEL_ENABLED no code of OpenTelemetry is loaded.' },
  { id: 'serve.traces.away', spec: 'mail.md Configuration', says: 'With a collector that is away every request is answered, and a counter tells the lost spans.' },
  { id: 'serve.log.request', spec: 'mail.md Configuration', says: 'The line of a request has its id, door, tool, outcome, milliseconds and trace id.' },
  { id: 'serve.log.refused', spec: 'mail.md Configuration', says: 'Refused credentials are counted by kind; the first of each minute have a line, without the credential.' },
  { id: 'serve.log.file', spec: 'mail.md Log rotation', says: 'LOG_FILE is opened anew on SIGHUP, and no line is lost or torn by either way of logrotate.' },
  { id: 'serve.log.journal', spec: 'mail.md Log rotation', says: 'Lines that go to the journal of systemd begin with their priority.' },
  { id: 'serve.log.louder', spec: 'mail.md Configuration', says: 'SIGUSR2 makes a server log at level debug for ten minutes.' },
  { id: 'serve.log.levels', spec: 'mail.md Configuration', says: 'LOG_LEVEL takes the names of Python too: WARNING and CRITICAL.' },
  { id: 'serve.metrics.hub', spec: 'mail.md Deployment quick notes', says: 'The metrics tell of requests, commits, wake-ups, projections, chores, leases, the database and the version.' },
  { id: 'serve.metrics.behind', spec: 'mail.md Deployment quick notes', says: 'A scrape holds up no call: its sums are made in the thread of long reads, and none while nobody scrapes.' },
  { id: 'serve.metrics.waiters', spec: 'mail.md Deployment quick notes', says: 'The metrics tell how many calls wait at each door.' },
  { id: 'serve.metrics.pushes', spec: 'mail.md Deployment quick notes', says: 'Mail that agents are told of is counted by route and outcome; names that clients give themselves are no labels.' },
  { id: 'serve.metrics.projects', spec: 'mail.md Deployment quick notes', says: 'Figures by project are in the metrics only with METRICS_BY_PROJECT.' },
  { id: 'serve.metrics.token', spec: 'mail.md Deployment quick notes', says: 'METRICS_TOKEN opens /metrics, there and on METRICS_PORT, and nothing else.' },
  { id: 'serve.metrics.shown', spec: 'mail.md Deployment quick notes', says: 'Each metric of the dashboard and of the alerts is in a scrape, and each alert fires on a made series.' },
] as const satisfies readonly Requirement[]
