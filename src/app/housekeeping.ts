/** Settings → the chores that a server does in the background; by default it only prunes the feed of changes. */

import { systemClock } from '../base/clock.ts'
import { pruningChore } from '../core/feed/pruning.ts'
import type { Chore } from '../core/hub/chores.ts'
import { quotaChore } from '../core/hub/quotas.ts'
import { leaseCleanupChore } from '../core/leases/cleanup.ts'
import { reserveInbox } from '../core/mail/escalation.ts'
import { overdueChore } from '../core/mail/overdue.ts'
import { retentionChore } from '../core/mail/retention-report.ts'
import { traceChore } from '../core/messages/traces.ts'
import { movingChore } from '../core/transfers/retention-apply.ts'
import type { Config } from '../settings/all.ts'
import { keepIn, retentionFolder, rulesOf } from './retention.ts'

export const choresOf = (config: Config): readonly Chore[] => [
  pruningChore({ keptMs: config.CHANGES_RETENTION_SECONDS * 1000 }),
  ...(config.QUOTA_ENABLED ? [quotaChore] : []),
  ...(config.ACK_TTL_ENABLED ? [overdue(config)] : []),
  ...(config.FILE_RESERVATIONS_CLEANUP_ENABLED
    ? [leaseCleanupChore(config.FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS * 1000)]
    : []),
  ...(config.RETENTION_REPORT_ENABLED ? [retention(config)] : []),
  ...(config.RETENTION_APPLY_ENABLED ? [moving(config)] : []),
  ...(config.HTTP_OTEL_ENABLED ? [traceChore] : []),
]

const overdue = (config: Config): Chore =>
  overdueChore({
    everyMs: config.ACK_TTL_SCAN_INTERVAL_SECONDS * 1000,
    ttlMs: config.ACK_TTL_SECONDS * 1000,
    escalation: config.ACK_ESCALATION_ENABLED ? config.ACK_ESCALATION_MODE : 'none',
    reserve: reserveInbox({
      holder: config.ACK_ESCALATION_CLAIM_HOLDER_NAME,
      ttlMs: config.ACK_ESCALATION_CLAIM_TTL_SECONDS * 1000,
      exclusive: config.ACK_ESCALATION_CLAIM_EXCLUSIVE,
    }),
  })

const retention = (config: Config): Chore =>
  retentionChore({ everyMs: config.RETENTION_REPORT_INTERVAL_SECONDS * 1000, ...rulesOf(config) })

const moving = (config: Config): Chore =>
  movingChore(config.RETENTION_REPORT_INTERVAL_SECONDS * 1000, {
    ...rulesOf(config),
    keep: keepIn(retentionFolder(config), systemClock.now),
  })
