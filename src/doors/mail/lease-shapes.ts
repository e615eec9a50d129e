/** The mail door's words for conflicts between leases, and the schema of what its tools list. */
import { z } from 'zod'
import type { Conflict, Released } from '../../core/leases/leases.ts'
import { toGranted } from '../words/leases.ts'
import { iso } from '../words/times.ts'

export const toConflict = ({ pattern, holders, more }: Conflict) => ({
  path: pattern,
  holders: holders.map(({ agent, pattern, exclusive, reason, expiresAt }) => ({
    agent,
    path_pattern: pattern,
    exclusive,
    reason,
    expires_ts: iso(expiresAt),
  })),
  ...(more && { more_holders: true }),
})

/** What a release answers: where it freed nothing, what the agent holds. */
export function toReleased({ released, releasedAt, held, more }: Released) {
  const answer = { released, released_at: iso(releasedAt) }
  if (released > 0) return answer
  const patterns = held.slice(0, 10).map(({ pattern }) => pattern)
  const others = held.length > patterns.length ? ', …' : ''
  return {
    ...answer,
    note:
      held.length === 0
        ? 'Nothing was released: you hold no file reservations.'
        : `Nothing was released. You hold: ${patterns.join(', ')}${others}. Name one of them as it is written here, or leave paths out to release all.`,
    ...(held.length > 0 && { file_reservations: held.map(toGranted), has_more: more }),
  }
}

/** Lists of leases or conflicts: their fields are told by their names. */
export const reservations = z.array(z.looseObject({}))
