/** Recipients that take a message at once: each has room, is open to its sender, and has no inbox that might be reserved. */
import sql, { empty, join, type Sql } from 'sql-template-tag'

/** The conditions under which agents take a message. */
export interface Terms {
  /** They take mail while they have fewer unread. */
  readonly limit: number
  /** Asked where nothing else is known of them. Whoever is not open may take the message all the same, for reasons that take longer to find. */
  readonly open?: Openness | undefined
}

interface Openness {
  /** Whether archive paths of the recipient's project must not be reserved. */
  readonly leases: boolean
  /** Whose contact it must be, for some time yet, unless it is open to all; absent where no policy is asked. */
  readonly contact: { readonly senderId: number; readonly until: number } | undefined
}

/** An exclusive lease on archive paths in the project of an agent. Whether it covers the agent's inbox is another question. */
export const archiveLease = sql`EXISTS (
  SELECT 1 FROM leases l WHERE l.project_id = agents.project_id AND l.released_at IS NULL AND l.exclusive = 1
    AND l.prefix >= 'agents' AND l.prefix < 'agents0')`

/** The rule's terms: values, or columns of what is asked. */
interface Openings {
  readonly limit: number | Sql
  /** 1 where no policy is asked. */
  readonly free: number | Sql
  readonly senderId: number | Sql
  readonly until: number | Sql
  /** 0 where no lease is asked for. */
  readonly leases: number | Sql
}

/**
 * Nobody needs permission to write to oneself. The approval of either side does, unless the recipient has ever said no;
 * contact that nobody approved does not where the recipient takes mail from contacts only (mail.contact.asked-only).
 * One text for all, which begins with a value: joining it to another then makes no new text (2.6 → 1.1 µs).
 */
export const isOpen = ({
  limit,
  free,
  senderId,
  until,
  leases,
}: Openings): Sql => sql`${limit} > agents.unread AND (${free} = 1
    OR agents.contact_policy = 'open'
    OR agents.id = ${senderId} OR agents.contact_policy <> 'block_all' AND (
      EXISTS (
        SELECT 1 FROM contacts c WHERE c.from_id = ${senderId} AND c.to_id = agents.id AND c.status = 'approved'
          AND (c.origin = 'asked' OR agents.contact_policy <> 'contacts_only') AND (c.expires_at IS NULL OR c.expires_at > ${until}))
      OR EXISTS (
        SELECT 1 FROM contacts c WHERE c.from_id = agents.id AND c.to_id = ${senderId} AND c.status = 'approved'
          AND (c.origin = 'asked' OR agents.contact_policy <> 'contacts_only') AND (c.expires_at IS NULL OR c.expires_at > ${until}))
        AND NOT EXISTS (
          SELECT 1 FROM contacts c WHERE c.from_id = ${senderId} AND c.to_id = agents.id AND c.status = 'denied')))
    AND (${leases} = 0 OR NOT ${archiveLease})`

const openings = (limit: number, { leases, contact }: Openness): Openings => ({
  limit,
  free: contact === undefined ? 1 : 0,
  senderId: contact?.senderId ?? 0,
  until: contact?.until ?? 0,
  leases: leases ? 1 : 0,
})

/** Counts one more unread delivery for each that has room; where they have to be open, for all of them or for none. */
export function countUnread(recipients: readonly { readonly id: number }[], { limit, open }: Terms): Sql {
  const ids = recipients.map(({ id }) => id)
  const [only, ...others] = ids
  if (others.length === 0)
    return open === undefined
      ? sql`UPDATE agents SET unread = unread + 1 WHERE id = ${only} AND unread < ${limit}`
      : sql`UPDATE agents SET unread = unread + 1 WHERE id = ${only} AND ${isOpen(openings(limit, open))}`
  const all =
    open &&
    sql`AND (SELECT COUNT(*) FROM agents WHERE id IN (${join(ids)}) AND ${isOpen(openings(limit, open))}) = ${ids.length}`
  return sql`UPDATE agents SET unread = unread + 1 WHERE id IN (${join(ids)}) AND unread < ${limit} ${all ?? empty}`
}
