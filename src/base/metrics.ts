/** The metrics of Parley, in Prometheus' words (all.metrics.tools, all.metrics.unread). */
import { Meters } from './meters.ts'

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const unitCounts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
const latency = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 21600, 86400]

export type Outcome = 'ok' | 'error' | 'cancelled'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const meters = new Meters()
  const counter = (name: string, help: string) => meters.counter({ name, help }).labels()
  const gauge = (name: string, help: string) => meters.gauge({ name, help }).labels()
  const byProject = (name: string, help: string) =>
    meters.gauge({ name, help: `${help} (with METRICS_BY_PROJECT).`, labels: ['project'] })
  /** Of this process: several of them add up. */
  const ownGauge = (name: string, help: string) => meters.gauge({ name, help }, 'sum').labels()
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
    commits: counter('parley_commits_total', 'Commits of the database.'),
    commitUnits: meters
      .histogram({ name: 'parley_commit_units', help: 'Units of work that shared a commit.' }, unitCounts)
      .labels(),
    commitWait: meters
      .histogram(
        { name: 'parley_commit_wait_seconds', help: 'Time that a commit waited for the writer or a connection.' },
        seconds,
      )
      .labels(),
    writerQueue: ownGauge('parley_writer_queue', 'Units of work that wait for the writer or a connection.'),
    databaseErrors: meters.counter({
      name: 'parley_database_errors_total',
      help: 'Commits that the database refused.',
      labels: ['kind'],
    }),
    databaseRetries: meters.counter({
      name: 'parley_database_retries_total',
      help: 'Work that ran again: others were first (race), the server changed (moved), its end was unknown (unsure), a statement was outlived (stale).',
      labels: ['kind'],
    }),
    listenReconnects: counter('parley_listen_reconnects_total', 'Lost connections for wake-ups (PostgreSQL).'),
    connections: meters.gauge(
      {
        name: 'parley_database_connections',
        help: 'Connections of the pool (PostgreSQL).',
        labels: ['state'],
      },
      'sum',
    ),
    databaseBytes: meters.gauge({
      name: 'parley_database_bytes',
      help: 'Size of the database file and its log (SQLite).',
      labels: ['file'],
    }),
    diskFree: gauge('parley_disk_free_bytes', 'Room left beside the database file (SQLite).'),
    wakes: counter('parley_wakes_total', 'Wake-ups that commits of this process sent.'),
    wakesLost: counter('parley_wakes_lost_total', 'Waits that found something at their deadline, without a wake-up.'),
    lagRows: meters.gauge({
      name: 'parley_projection_lag_rows',
      help: 'Changes that a follower of the feed has not taken in yet.',
      labels: ['projection'],
    }),
    lagSeconds: meters.gauge({
      name: 'parley_projection_lag_seconds',
      help: 'Age of the oldest change that a follower of the feed has not taken in yet.',
      labels: ['projection'],
    }),
    choreRuns: meters.counter({
      name: 'parley_chore_runs_total',
      help: 'Runs of housekeeping by this process.',
      labels: ['chore', 'outcome'],
    }),
    choreSeconds: meters.gauge({
      name: 'parley_chore_seconds',
      help: 'Time that the last run of housekeeping took.',
      labels: ['chore'],
    }),
    choreDone: meters.gauge({
      name: 'parley_chore_done_timestamp_seconds',
      help: 'When housekeeping last ended well in this process, since 1970.',
      labels: ['chore'],
    }),
    waiters: meters.gauge(
      {
        name: 'parley_waiters',
        help: 'Calls of clients that wait, by door; streams and sockets are counted by their own names.',
        labels: ['door'],
      },
      'sum',
    ),
    pushes: meters.counter({
      name: 'parley_pushes_total',
      help: 'Mail that agents were told of without a call of theirs: by hooks, waiters of idle clients, sockets and streams.',
      labels: ['route', 'outcome'],
    }),
    leases: gauge('parley_leases_active', 'Leases of paths that hold now.'),
    overdue: gauge(
      'parley_mail_overdue',
      'Deliveries whose acknowledgement is overdue, whether it was escalated or not; counted up to 10,000.',
    ),
    overQuota: gauge(
      'parley_inboxes_over_quota',
      'Inboxes that hold as many messages as QUOTA_INBOX_LIMIT_COUNT allows.',
    ),
    nearQuota: meters.gauge({
      name: 'parley_quota_near',
      help: 'Inboxes, and attachments of projects, that hold 80 % of their quota or more.',
      labels: ['quota'],
    }),
    fullMailboxes: gauge('parley_mailboxes_full', 'Agents who have as much unread mail as MAILBOX_MAX_DEPTH allows.'),
    projectMessages: byProject('parley_project_messages', 'Messages of a project'),
    projectUnread: byProject('parley_project_unread', 'Deliveries of a project not read yet'),
    projectLeases: byProject('parley_project_leases_active', 'Leases of a project that hold now'),
    projectAttachmentBytes: byProject('parley_project_attachment_bytes', 'Bytes of attachments that a project stores'),
    sessions: ownGauge('parley_sessions', 'Sessions of MCP clients that this process has in memory.'),
    streams: ownGauge('parley_streams', 'Open streams of events of MCP clients.'),
    buildInfo: meters.gauge({ name: 'parley_build_info', help: 'The version.', labels: ['version', 'engine'] }),
    waiting: ownGauge('parley_waiting', 'Calls that wait for something to happen.'),
    sockets: ownGauge('parley_sockets', 'Open WebSockets of agents.'),
    workers: gauge('parley_workers', 'Processes that serve this node.'),
    workerRestarts: counter('parley_worker_restarts_total', 'Workers that died and were started again.'),
    loopsPaused: meters
      .counter({ name: 'parley_loops_paused_total', help: 'Pauses of waking by the loop guard.' })
      .labels(),
    spansLost: meters
      .counter({ name: 'parley_spans_lost_total', help: 'Spans of traces that did not reach the collector.' })
      .labels(),
    unread: meters.gauge({ name: 'parley_unread', help: 'Deliveries not read yet.' }).labels(),
  }
}
