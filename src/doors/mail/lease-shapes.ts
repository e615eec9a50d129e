/** The mail door's words for leases: file reservations, with ISO times. */
import { z } from 'zod'
import type { Conflict, Lease } from '../../core/leases/leases.ts'
import { isoOrNull, toIso } from './fields.ts'

/** As its holder sees it. */
export const toGranted = ({ id, pattern, exclusive, reason, expiresAt }: Lease) => ({
  id,
  path_pattern: pattern,
  exclusive,
  reason,
  expires_ts: toIso(expiresAt),
})

export const toConflict = ({ pattern, holders, more }: Conflict) => ({
  path: pattern,
  holders: holders.map(({ agent, pattern, exclusive, expiresAt }) => ({
    agent,
    path_pattern: pattern,
    exclusive,
    expires_ts: toIso(expiresAt),
  })),
  ...(more && { more_holders: true }),
})

/** As anybody sees it. */
export const toReservation = (lease: Lease) => ({
  ...toGranted(lease),
  agent: lease.agent,
  created_ts: toIso(lease.createdAt),
  released_ts: isoOrNull(lease.releasedAt),
})

/** Lists of the above: the names of their fields say enough. */
export const reservations = z.array(z.looseObject({}))
