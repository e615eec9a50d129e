/** The panels of the dashboard and the alerts, as tables: the files of deploy/observability/ are made of them. */

export interface Panel {
  readonly title: string
  /** In PromQL. */
  readonly queries: readonly { readonly expr: string; readonly legend: string }[]
  readonly unit?: 's' | 'bytes' | 'ops' | 'short'
}

const rate = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}[5m]))`
const quantile = (q: number, metric: string, by = ''): string =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${metric}_bucket[5m])))`
const one = (expr: string, legend: string) => [{ expr, legend }]

export const panels: readonly Panel[] = [
  { title: 'Requests by status', unit: 'ops', queries: one(rate('parley_requests_total', 'status'), '{{status}}') },
  {
    title: 'Tool calls',
    unit: 'ops',
    queries: one(rate('parley_tool_calls_total', 'tool, outcome'), '{{tool}} {{outcome}}'),
  },
  { title: 'Tool calls, p99', unit: 's', queries: one(quantile(0.99, 'parley_tool_seconds', 'tool'), '{{tool}}') },
  {
    title: 'Mail, from sent to taken',
    unit: 's',
    queries: [0.5, 0.99].map((q) => ({ expr: quantile(q, 'parley_mail_latency_seconds'), legend: `p${q * 100}` })),
  },
  {
    title: 'Unread, overdue, full inboxes',
    unit: 'short',
    queries: [
      { expr: 'max(parley_unread)', legend: 'unread' },
      { expr: 'max(parley_mail_overdue)', legend: 'overdue' },
      { expr: 'max(parley_inboxes_over_quota)', legend: 'inboxes at their quota' },
      { expr: 'max(parley_mailboxes_full)', legend: 'mailboxes full of unread mail' },
    ],
  },
  {
    title: 'Waiting calls, streams, sockets, sessions',
    unit: 'short',
    queries: ['waiting', 'streams', 'sockets', 'sessions'].map((name) => ({
      expr: `sum(parley_${name})`,
      legend: name,
    })),
  },
  {
    title: 'Near a quota',
    unit: 'short',
    queries: one('max by (quota) (parley_quota_near)', '{{quota}}'),
  },
  { title: 'Waiters by door', unit: 'short', queries: one('sum by (door) (parley_waiters)', '{{door}}') },
  {
    title: 'Mail that agents were told of',
    unit: 'ops',
    queries: one(rate('parley_pushes_total', 'route, outcome'), '{{route}} {{outcome}}'),
  },
  {
    title: 'Projects (METRICS_BY_PROJECT)',
    unit: 'short',
    queries: ['messages', 'unread', 'leases_active'].map((name) => ({
      expr: `topk(10, max by (project) (parley_project_${name}))`,
      legend: `{{project}} ${name}`,
    })),
  },
  {
    title: 'Attachments of projects (METRICS_BY_PROJECT)',
    unit: 'bytes',
    queries: one('topk(10, max by (project) (parley_project_attachment_bytes))', '{{project}}'),
  },
  {
    title: 'Wake-ups',
    unit: 'ops',
    queries: [
      { expr: 'sum(rate(parley_wakes_total[5m]))', legend: 'sent' },
      { expr: 'sum(rate(parley_wakes_lost_total[5m]))', legend: 'lost' },
    ],
  },
  {
    title: 'Commits, and units in them',
    unit: 'ops',
    queries: [
      { expr: 'sum(rate(parley_commits_total[5m]))', legend: 'commits' },
      { expr: 'sum(rate(parley_commit_units_sum[5m]))', legend: 'units' },
    ],
  },
  { title: 'Wait for the writer', unit: 's', queries: one(quantile(0.99, 'parley_commit_wait_seconds'), 'p99') },
  { title: 'Writer queue', unit: 'short', queries: one('parley_writer_queue', '{{instance}}') },
  {
    title: 'Database errors and retries',
    unit: 'ops',
    queries: [
      { expr: rate('parley_database_errors_total', 'kind'), legend: '{{kind}}' },
      { expr: rate('parley_database_retries_total', 'kind'), legend: 'again: {{kind}}' },
      { expr: 'sum(rate(parley_listen_reconnects_total[5m]))', legend: 'LISTEN reconnects' },
    ],
  },
  {
    title: 'Connections (PostgreSQL)',
    unit: 'short',
    queries: one('sum by (instance, state) (parley_database_connections)', '{{instance}} {{state}}'),
  },
  {
    title: 'Database files and free disk (SQLite)',
    unit: 'bytes',
    queries: [
      { expr: 'parley_database_bytes', legend: '{{file}}' },
      { expr: 'parley_disk_free_bytes', legend: 'free' },
    ],
  },
  {
    title: 'Projections behind',
    unit: 's',
    queries: one('max by (projection) (parley_projection_lag_seconds)', '{{projection}}'),
  },
  {
    title: 'Changes that projections have to take',
    unit: 'short',
    queries: one('max by (projection) (parley_projection_lag_rows)', '{{projection}}'),
  },
  {
    title: 'Housekeeping',
    unit: 's',
    queries: [
      { expr: 'max by (chore) (parley_chore_seconds)', legend: '{{chore}}' },
      {
        expr: 'time() - max by (chore) (parley_chore_done_timestamp_seconds)',
        legend: '{{chore}}, since the last run',
      },
    ],
  },
  {
    title: 'Housekeeping that failed',
    unit: 'ops',
    queries: one('sum by (chore) (rate(parley_chore_runs_total{outcome="error"}[5m]))', '{{chore}}'),
  },
  {
    title: 'Refused credentials',
    unit: 'ops',
    queries: one(rate('parley_credentials_refused_total', 'kind'), '{{kind}}'),
  },
  {
    title: 'Leases, loops paused',
    unit: 'short',
    queries: [
      { expr: 'max(parley_leases_active)', legend: 'leases' },
      { expr: 'sum(increase(parley_loops_paused_total[1h]))', legend: 'loops paused in an hour' },
    ],
  },
  {
    title: 'Workers',
    unit: 'short',
    queries: [
      { expr: 'parley_workers', legend: '{{instance}}' },
      { expr: 'increase(parley_worker_restarts_total[1h])', legend: '{{instance}}, started again in an hour' },
    ],
  },
  { title: 'Memory', unit: 'bytes', queries: one('process_resident_memory_bytes{job="parley"}', '{{instance}}') },
  {
    title: 'Event loop, p99',
    unit: 's',
    queries: one('nodejs_eventloop_lag_p99_seconds{job="parley"}', '{{instance}}'),
  },
  {
    title: 'Spans that did not reach the collector',
    unit: 'ops',
    queries: one('sum(rate(parley_spans_lost_total[5m]))', 'lost'),
  },
  {
    title: 'Versions',
    unit: 'short',
    queries: one('count by (version, engine) (parley_build_info)', '{{version}} {{engine}}'),
  },
]

export interface Alert {
  readonly name: string
  readonly expr: string
  readonly for: string
  readonly severity: 'page' | 'ticket'
  readonly says: string
  /** The line of what to do. */
  readonly action: string
  /** Series in the language of promtool's tests by which it fires, and the labels of the alert then. */
  readonly fires: {
    readonly series: Readonly<Record<string, string>>
    readonly after: string
    readonly labels?: Readonly<Record<string, string>>
  }
}

const at = '{job="parley",instance="a"}'
const onA = { job: 'parley', instance: 'a' }

export const alerts: readonly Alert[] = [
  {
    name: 'ParleyDown',
    expr: 'up{job="parley"} == 0',
    for: '2m',
    severity: 'page',
    says: 'A node does not answer its scrape.',
    action: 'Look at `systemctl status parley` and its log; on several nodes the others go on.',
    fires: { series: { [`up${at}`]: '0x20' }, after: '5m', labels: onA },
  },
  {
    name: 'ParleyNotReady',
    expr: 'probe_success{job="parley-readiness"} == 0',
    for: '2m',
    severity: 'page',
    says: 'A node answers, and says that it is not ready.',
    action: 'Ask `/health/readiness`: it names the reason and the next step (disk full, database away).',
    fires: {
      series: { 'probe_success{job="parley-readiness",instance="a"}': '0x20' },
      after: '5m',
      labels: { job: 'parley-readiness', instance: 'a' },
    },
  },
  {
    name: 'ParleyErrors',
    expr: 'sum(rate(parley_requests_total{status=~"5.."}[5m])) / sum(rate(parley_requests_total[5m])) > 0.02',
    for: '5m',
    severity: 'page',
    says: 'More than 2 % of the requests fail.',
    action:
      'Search the log for level 50 and its `reqId`; `parley_database_errors_total` tells whether it is the database.',
    fires: {
      series: { 'parley_requests_total{status="500"}': '0+10x30', 'parley_requests_total{status="200"}': '0+100x30' },
      after: '15m',
    },
  },
  {
    name: 'ParleyToolErrors',
    expr: 'sum(rate(parley_tool_calls_total{outcome="error"}[15m])) / sum(rate(parley_tool_calls_total[15m])) > 0.05',
    for: '15m',
    severity: 'ticket',
    says: 'More than 5 % of the tool calls end with an error.',
    action:
      'The panel "Tool calls" shows which tool; the log line of a call has its error. One client that repeats a mistake is enough: tell its owner.',
    fires: {
      series: {
        'parley_tool_calls_total{outcome="error"}': '0+10x60',
        'parley_tool_calls_total{outcome="ok"}': '0+100x60',
      },
      after: '40m',
    },
  },
  {
    name: 'ParleySlow',
    expr: 'histogram_quantile(0.99, sum by (le) (rate(parley_commit_wait_seconds_bucket[5m]))) > 0.5',
    for: '10m',
    severity: 'ticket',
    says: '1 % of the commits wait for half a second or longer.',
    action:
      'Look at the disk (SQLite), or at the pool and locks (PostgreSQL); a trace of a slow send shows which step waits.',
    fires: {
      series: {
        'parley_commit_wait_seconds_bucket{le="0.5"}': '0+1x30',
        'parley_commit_wait_seconds_bucket{le="1"}': '0+10x30',
        'parley_commit_wait_seconds_bucket{le="+Inf"}': '0+10x30',
      },
      after: '20m',
    },
  },
  {
    name: 'ParleyProjectionBehind',
    expr: 'max by (projection) (parley_projection_lag_seconds) > 300',
    for: '10m',
    severity: 'ticket',
    says: 'A projection is more than five minutes behind.',
    action:
      'Search the log for its name. The archive: `parley archive verify`; search catches up by itself once the load falls.',
    fires: {
      series: { 'parley_projection_lag_seconds{projection="search"}': '600x30' },
      after: '15m',
      labels: { projection: 'search' },
    },
  },
  {
    name: 'ParleyDiskLow',
    expr: 'parley_disk_free_bytes < 2e9',
    for: '5m',
    severity: 'page',
    says: 'Less than 2 GB are free beside the database.',
    action: 'Make room, or move STORAGE_ROOT: at 4 MiB every write is refused.',
    fires: { series: { [`parley_disk_free_bytes${at}`]: '1000000x20' }, after: '10m', labels: onA },
  },
  {
    name: 'ParleyMailOverdue',
    expr: 'max(parley_mail_overdue) > 0',
    for: '30m',
    severity: 'ticket',
    says: 'Mail whose acknowledgement was wanted is not acknowledged.',
    action: 'The page `/mail/attention` lists it; wake its agents, or answer for them.',
    fires: { series: { [`parley_mail_overdue${at}`]: '3x60' }, after: '40m' },
  },
  {
    name: 'ParleyQuotaNear',
    expr: 'max by (quota) (parley_quota_near) > 0',
    for: '15m',
    severity: 'ticket',
    says: 'An inbox, or the attachments of a project, hold 80 % of the quota.',
    action:
      '`parley retention plan` shows what could be moved out; the log names it (`quota_near`). Else raise the quota.',
    fires: { series: { 'parley_quota_near{quota="inbox"}': '1x40' }, after: '20m', labels: { quota: 'inbox' } },
  },
  {
    name: 'ParleyWakesLost',
    expr: 'sum(rate(parley_wakes_lost_total[15m])) > 0.1',
    for: '15m',
    severity: 'ticket',
    says: 'Waits find mail at their deadline only.',
    action:
      'PostgreSQL: look at LISTEN reconnects, and that no pooler stands before DATABASE_URL. SQLite: all processes must share one local disk.',
    fires: { series: { parley_wakes_lost_total: '0+60x60' }, after: '45m' },
  },
  {
    name: 'ParleyCredentialsRefused',
    expr: 'sum(rate(parley_credentials_refused_total{kind=~"key|token|limited"}[5m])) > 1',
    for: '10m',
    severity: 'ticket',
    says: 'Wrong keys or tokens come more often than once a second.',
    action: 'The log has the addresses (`event` = `credentials_refused`): an old key in use, or somebody who guesses.',
    fires: { series: { 'parley_credentials_refused_total{kind="key"}': '0+120x30' }, after: '20m' },
  },
]

/** The names of Parley's and the process's metrics in an expression. */
export const metricsIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:parley|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)
