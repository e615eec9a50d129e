/** The mail door's words for conflicts between leases, and the schema of what its tools list. */
import { z } from 'zod'
import type { Conflict } from '../../core/leases/leases.ts'
import { iso } from '../words/times.ts'

export const toConflict = ({ pattern, holders, more }: Conflict) => ({
  path: pattern,
  holders: holders.map(({ agent, pattern, exclusive, expiresAt }) => ({
    agent,
    path_pattern: pattern,
    exclusive,
    expires_ts: iso(expiresAt),
  })),
  ...(more && { more_holders: true }),
})

/** Lists of leases or conflicts: their fields are told by their names. */
export const reservations = z.array(z.looseObject({}))
