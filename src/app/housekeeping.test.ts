/** Which chores a server has, by its settings. */
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { loadConfig } from '../settings/read.ts'
import { choresOf } from './housekeeping.ts'

const chores = (env: Record<string, string>) =>
  choresOf(loadConfig({ STORAGE_ROOT: '/tmp/parley', ...env })).map(({ name, everyMs }) => [name, everyMs])

verifies('mail.chore.off', 'a server has none unless it is told to', () => {
  expect(chores({})).toEqual([])
  // To escalate, one must look first.
  expect(chores({ ACK_ESCALATION_ENABLED: 'true', QUOTA_ENABLED: 'true' })).toEqual([])
})

test('each setting turns on its own', () => {
  expect(chores({ ACK_TTL_ENABLED: 'true' })).toEqual([['ack-overdue', 60_000]])
  expect(
    chores({
      ACK_TTL_ENABLED: 'true',
      ACK_TTL_SCAN_INTERVAL_SECONDS: '5',
      FILE_RESERVATIONS_CLEANUP_ENABLED: 'true',
      FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS: '6',
      RETENTION_REPORT_ENABLED: 'true',
      RETENTION_REPORT_INTERVAL_SECONDS: '7',
    }),
  ).toEqual([
    ['ack-overdue', 5000],
    ['lease-cleanup', 6000],
    ['retention-report', 7000],
  ])
})
