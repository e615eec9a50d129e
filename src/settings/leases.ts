/** Settings of leases, which the mail door calls file reservations. */
import { flag, seconds, setting } from './kinds.ts'

export const leaseSettings = {
  FILE_RESERVATIONS_CLEANUP_ENABLED: setting({
    default: 'false',
    says: 'Whether expired reservations are marked as released. They count as free either way.',
    parse: flag,
  }),
  FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS: setting({
    default: '60',
    says: 'How often that is done.',
    parse: seconds,
  }),
} as const
