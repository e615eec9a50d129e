/** The way of one message: what became of it for each recipient, when, and by which route. */
import { HubError } from '../../base/errors.ts'
import type { Ending } from '../../store/messages/deliveries.ts'
import { listBehind } from '../../store/messages/reach.ts'
import { listTraceRows, type TraceRow } from '../../store/messages/tracing.ts'
import type { Caller } from '../access/callers.ts'
import { mayRoam, pageSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { describeReach, type Reach } from '../presence/reach.ts'
import { slugOfProject } from '../projects/projects.ts'
import { listWithRows, type PageMessage, type Who } from './page-message.ts'

/**
 *   queued     ── a route took a pointer to it ──▶ offered
 *   any before ── its text went out in an answer that was written ──▶ delivered
 *   any before ── its recipient took it for good, or said so ──▶ read ── and confirmed it ──▶ acked
 *   unread     ── its time was over ──▶ expired; it was lent too often ──▶ dead ── a person dropped it ──▶ dropped
 */
type DeliveryState = 'queued' | 'offered' | 'delivered' | 'read' | 'acked' | Ending

interface TracedDelivery extends Who {
  readonly kind: 'to' | 'cc' | 'bcc'
  readonly state: DeliveryState
  readonly offeredAt: number | undefined
  /** The route that took the pointer, as `claude`. */
  readonly offeredVia: string | undefined
  readonly deliveredAt: number | undefined
  readonly readAt: number | undefined
  readonly ackedAt: number | undefined
  /** While it is unread, and for those who see all agents: whether it gets through, and how many are before it. */
  readonly reach: Reach | undefined
}

export interface Trace extends Pick<PageMessage, 'id' | 'project' | 'thread' | 'topic' | 'from' | 'createdAt'> {
  readonly deliveries: readonly TracedDelivery[]
}

/** For whoever may see the message; recipients that one may not know of are left out, as when it is read. */
export async function traceMessage(hub: Hub, caller: Caller, id: number): Promise<Trace> {
  const [seen] = await listWithRows(hub, pageSight(caller), [id])
  if (seen === undefined) throw new HubError('MESSAGE_NOT_FOUND', `There is no message ${id}.`)
  const rows = new Map((await listTraceRows(reader(hub), id)).map((row) => [row.recipient_id, row]))
  const reaches = await reachOf(hub, caller, id, [...rows.values()])
  const deliveries: TracedDelivery[] = []
  for (const { id: recipientId, name, project_id, kind } of seen.recipients) {
    const row = rows.get(recipientId)
    if (row === undefined) continue
    deliveries.push({
      name,
      project: await slugOfProject(hub, project_id),
      kind,
      state: stateOf(row),
      offeredAt: row.offered_at ?? undefined,
      offeredVia: row.offered_via ?? undefined,
      deliveredAt: row.delivered_at ?? undefined,
      readAt: row.read_at ?? undefined,
      ackedAt: row.acked_at ?? undefined,
      reach: reaches.get(recipientId),
    })
  }
  const { project, thread, topic, from, createdAt } = seen.message
  return { id, project, thread, topic, from, createdAt, deliveries }
}

function stateOf(row: TraceRow): DeliveryState {
  if (row.acked_at !== null) return 'acked'
  if (row.ended !== null) return row.ended
  if (row.read_at !== null) return 'read'
  if (row.delivered_at !== null) return 'delivered'
  return row.offered_at === null ? 'queued' : 'offered'
}

/** An agent was told with its receipt, and is told no more: asked again and again, it would show who is there. */
async function reachOf(
  hub: Hub,
  caller: Caller,
  messageId: number,
  rows: readonly TraceRow[],
): Promise<ReadonlyMap<number, Reach>> {
  const isUnread = ({ read_at, ended }: TraceRow) => read_at === null && ended === null
  const unread = rows.filter(isUnread).map(({ recipient_id }) => recipient_id)
  if (unread.length === 0 || !mayRoam(caller)) return new Map()
  const agents = (await listBehind(reader(hub), unread, messageId)).map(({ id, active_at, behind }) => ({
    id,
    activeAt: active_at,
    behind: Number(behind),
  }))
  return describeReach(hub, caller, agents)
}
