/** The mail door's words for conflicts between leases, and the schema of what its tools list. */
import { z } from 'zod'
import type { Conflict, Lease, Released, Reserved } from '../../core/leases/leases.ts'
import { toGranted } from '../words/leases.ts'
import { iso } from '../words/times.ts'

const toConflict = ({ pattern, holders, more }: Conflict) => ({
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

/** The answer to a reservation: conflicts come first, since a model may not read to the end (mail.lease.conflict-seen). */
export const toReserved = ({ granted, conflicts }: Reserved) => ({
  conflicts: conflicts.map(toConflict),
  ...(conflicts.length > 0 && { note: toldOfConflicts(conflicts, granted) }),
  granted: granted.map(toGranted),
})

const mostTold = 5

function toldOfConflicts(conflicts: readonly Conflict[], granted: readonly Lease[]): string {
  const asked = new Set([...conflicts, ...granted].map(({ pattern }) => pattern)).size
  const holders = conflicts.flatMap(({ holders }) => holders)
  const names = [...new Set(holders.map(({ agent }) => agent))]
  const latest = Math.max(...holders.map(({ expiresAt }) => expiresAt))
  const held = `${conflicts.length} of ${asked} ${asked === 1 ? 'path' : 'paths'} ${conflicts.length === 1 ? 'is' : 'are'} held by ${fewOf(names)} until ${iso(latest)}`
  const next =
    granted.length === asked
      ? 'You were granted them all the same: ask the holders before you edit.'
      : 'They were not granted to you: edit other files, or ask the holders.'
  return `${held}: ${fewOf(conflicts.map(({ pattern }) => pattern))}. ${next}`
}

const fewOf = (texts: readonly string[]): string =>
  `${texts.slice(0, mostTold).join(', ')}${texts.length > mostTold ? ', …' : ''}`

/** A release that freed nothing lists what the agent holds, and says where the rest is listed. */
export function toReleased(project: string, { released, releasedAt, held, more }: Released) {
  const answer = { released, released_at: iso(releasedAt) }
  if (released > 0) return answer
  const patterns = held.slice(0, 10).map(({ pattern }) => pattern)
  const rest = more ? ` You hold more: resource://file_reservations/${encodeURIComponent(project)} lists all.` : ''
  const others = held.length > patterns.length ? ', …' : ''
  return {
    ...answer,
    note:
      held.length === 0
        ? 'Nothing was released: you hold no file reservations.'
        : `Nothing was released. You hold: ${patterns.join(', ')}${others}. Name one of them as it is written here, or leave paths out to release all.${rest}`,
    ...(held.length > 0 && { file_reservations: held.map(toGranted), has_more: more }),
  }
}

/** The answer to a renewal: one that renewed nothing says why (mail.lease.renewed-nothing). */
export const toRenewed = (leases: readonly Lease[]) => ({
  renewed: leases.length,
  file_reservations: leases.map(toGranted),
  ...(leases.length === 0 && {
    note: 'Nothing was renewed: you hold no active reservation of these. One that has expired is free: reserve its paths again with file_reservation_paths.',
  }),
})

/** Lists of leases or conflicts: their fields are told by their names. */
export const reservations = z.array(z.looseObject({}))
