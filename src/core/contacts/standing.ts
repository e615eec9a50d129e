/** The standing between two agents: which of their two links decides, and until when. */
import { latestTime } from '../../base/clock.ts'
import type { ContactRow } from '../../store/contacts/contacts.ts'
import type { Agent } from '../agents/agents.ts'

/** How long a request waits for its answer, and an approval lasts, unless the call says otherwise. */
export const usualTtlMs = 7 * 86_400_000

export const endAfter = (now: number, ms: number): number => Math.min(now + ms, latestTime)

/** An automatic contact that ends before this is made to last by the next message: in its last quarter, not with every one. */
export const renewedBefore = (now: number, autoMs: number): number => now + Math.ceil(autoMs / 4)

/** The contact of the sender with another agent: the row that decides, and its state now. */
export interface Link {
  readonly row: ContactRow
  readonly standing: Standing
}

export type Standing = ContactRow['status'] | 'expired'

export const standingOf = ({ status, expires_at }: ContactRow, now: number): Standing =>
  expires_at !== null && expires_at <= now ? 'expired' : status

/** The contact policy of an agent, by its id. */
type PolicyOf = (id: number) => string | undefined

/**
 * An approved contact holds both ways, but a denial by the other outweighs it (mail.contact.both-ways). To an agent that takes
 * mail from contacts only, automatic contact is none (mail.contact.asked-only).
 */
export function linksOf(
  sender: Agent,
  rows: readonly ContactRow[],
  { now, policyOf }: { now: number; policyOf: PolicyOf },
): ReadonlyMap<number, Link> {
  const links = new Map<number, Link>()
  for (const row of rows) {
    const own = row.from_id === sender.id
    const other = own ? row.to_id : row.from_id
    if (row.status === 'approved' && row.origin === 'automatic' && policyOf(other) === 'contacts_only') continue
    const link = { row, standing: standingOf(row, now) }
    // The sender's own denial or silence does not bind the sender.
    if (!own && link.standing !== 'approved') continue
    const rival = links.get(other)
    if (rival === undefined || weightier(link, rival, sender)) links.set(other, link)
  }
  return links
}

/** The same with one other. */
export function linkBetween(
  sender: Agent,
  rows: readonly (ContactRow | undefined)[],
  { now, policy }: { now: number; policy: string | undefined },
): Link | undefined {
  const [link] = linksOf(
    sender,
    rows.filter((row) => row !== undefined),
    { now, policyOf: () => policy },
  ).values()
  return link
}

function weightier(link: Link, rival: Link, sender: Agent): boolean {
  const [own, back] = link.row.from_id === sender.id ? [link, rival] : [rival, link]
  if (own.standing === 'denied') return link === own
  if (own.standing !== 'approved') return link === back
  return endOf(link) > endOf(rival)
}

export const endOf = ({ row }: Link): number => row.expires_at ?? Number.POSITIVE_INFINITY
