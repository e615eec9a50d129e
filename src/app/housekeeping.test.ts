/** Which chores a server has, by its settings. */
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { loadConfig } from '../settings/read.ts'
import { choresOf } from './housekeeping.ts'

const pruning = ['feed-pruning', 3_600_000]

const chores = (env: Record<string, string>) =>
  choresOf(loadConfig({ STORAGE_ROOT: '/tmp/parley', ...env })).map(({ name, everyMs }) => [name, everyMs])

verifies('mail.chore.off', 'a server has none but the pruning of the feed unless it is told to', () => {
  expect(chores({})).toEqual([pruning])
  // To escalate, one must look first.
  expect(chores({ ACK_ESCALATION_ENABLED: 'true' })).toEqual([pruning])
})

test('a feed that is kept for less than an hour is pruned as often', () => {
  expect(chores({ CHANGES_RETENTION_SECONDS: '60' })).toEqual([['feed-pruning', 60_000]])
})

test('each setting turns on its own', () => {
  expect(chores({ ACK_TTL_ENABLED: 'true' })).toEqual([pruning, ['ack-overdue', 60_000]])
  expect(chores({ QUOTA_ENABLED: 'true' })).toEqual([pruning, ['quotas', 300_000]])
  expect(
    chores({
      ACK_TTL_ENABLED: 'true',
      ACK_TTL_SCAN_INTERVAL_SECONDS: '5',
      FILE_RESERVATIONS_CLEANUP_ENABLED: 'true',
      FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS: '6',
      RETENTION_REPORT_ENABLED: 'true',
      RETENTION_REPORT_INTERVAL_SECONDS: '7',
    }),
  ).toEqual([pruning, ['ack-overdue', 5000], ['lease-cleanup', 6000], ['retention-report', 7000]])
})

verifies('mail.retention.chore', 'mail is moved out only where that is turned on, not with the report', () => {
  const interval = { RETENTION_REPORT_INTERVAL_SECONDS: '7' }
  expect(chores({ ...interval, RETENTION_REPORT_ENABLED: 'true' })).toEqual([pruning, ['retention-report', 7000]])
  expect(chores({ ...interval, RETENTION_APPLY_ENABLED: 'true' })).toEqual([pruning, ['retention-apply', 7000]])
})
