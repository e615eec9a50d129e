/** The way of a message in the words of mail. */
import type { Trace } from '../../core/pages/trace.ts'
import { addressIn } from './addresses.ts'
import { toReach } from './reach.ts'
import { iso, isoOrNull } from './times.ts'

export const toTrace = ({ id, project, thread, topic, from, createdAt, deliveries }: Trace) => ({
  id,
  project,
  thread_id: thread ?? null,
  topic: topic ?? null,
  from: addressIn(project)(from),
  created_ts: iso(createdAt),
  recipients: deliveries.map((one) => ({
    name: one.name,
    project: one.project,
    kind: one.kind,
    state: one.state,
    offered_ts: isoOrNull(one.offeredAt),
    offered_via: one.offeredVia ?? null,
    delivered_ts: isoOrNull(one.deliveredAt),
    read_ts: isoOrNull(one.readAt),
    ack_ts: isoOrNull(one.ackedAt),
    ...(one.reach && { reach: toReach(one.reach) }),
  })),
})
