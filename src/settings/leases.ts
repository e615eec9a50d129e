/** Settings of leases, which the mail door calls file reservations. */
import { flag, seconds, setting } from './kinds.ts'

export const leaseSettings = {
  FILE_RESERVATIONS_ENFORCEMENT_ENABLED: setting({
    default: 'true',
    says: 'Whether an exclusive reservation of an inbox in the archive (`agents/<name>/inbox/**`) keeps mail from that agent, except for mail by the holder. Reservations of code never do.',
    parse: flag,
  }),
  FILE_RESERVATIONS_CLEANUP_ENABLED: setting({
    default: 'false',
    says: 'Whether expired file reservations are marked as released. They count as free in any case.',
    parse: flag,
  }),
  FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'Seconds between two searches for expired file reservations.',
    parse: seconds,
  }),
} as const
