/** Settings of leases, which the mail door calls file reservations. */
import { flag, seconds } from './kinds.ts'

export const leaseSettings = {
  FILE_RESERVATIONS_ENFORCEMENT_ENABLED: flag(true).says(
    'Whether an exclusive reservation of an inbox in the archive (`agents/<name>/inbox/**`) keeps mail from that agent, except for mail by the holder. Reservations of code never do.',
  ),
  FILE_RESERVATIONS_CLEANUP_ENABLED: flag(false).says(
    'Whether expired file reservations are marked as released. They count as free in any case.',
  ),
  FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS: seconds(60).says(
    'Seconds between two searches for expired file reservations.',
  ),
}
