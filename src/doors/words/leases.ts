/** Leases in the words of mail, as its tools and `--json` say them: file reservations, with ISO times. */
import type { Lease } from '../../core/leases/leases.ts'
import { iso, isoOrNull } from './times.ts'

/** As whoever reserved it sees it. */
export const toGranted = ({ id, pattern, exclusive, reason, expiresAt }: Lease) => ({
  id,
  path_pattern: pattern,
  exclusive,
  reason,
  expires_ts: iso(expiresAt),
})

/** As anybody sees it. */
export const toReservation = (lease: Lease) => ({
  ...toGranted(lease),
  agent: lease.agent,
  created_ts: iso(lease.createdAt),
  released_ts: isoOrNull(lease.releasedAt),
})
