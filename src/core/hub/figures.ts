/** Gauges that need more than one sum, counted for a scrape of the metrics in the thread of long reads (serve.metrics.behind). */
import { countFull, countLeases, countOverdue, listLags, listProjectFigures } from '../../store/figures.ts'
import { type Hub, longReader } from './hub.ts'
import { quotaState } from './quotas.ts'

/** Several scrapers share a count. */
const keptMs = 5_000

/** Beyond this many nobody needs the exact number. */
const mostOverdue = 10_000

/** Each is a line of five metrics. */
const mostProjects = 500

export interface FigureWishes {
  /** Whether the largest projects are counted one by one (METRICS_BY_PROJECT). */
  readonly byProject: boolean
}

/** The returned function brings them up to date, if the last count is some time ago. Counts that fail leave the gauges as they are. */
export function createFigures(hub: Hub, wishes: FigureWishes): () => Promise<void> {
  let countedAt = Number.NEGATIVE_INFINITY
  let counting: Promise<void> | undefined
  const count = async () => {
    try {
      await countFigures(hub, wishes)
      countedAt = hub.clock.monotonic()
    } catch (error) {
      hub.log.warn({ err: error }, 'the figures of the metrics could not be counted; the next scrape tries again')
    } finally {
      counting = undefined
    }
  }
  return async () => {
    if (counting === undefined && hub.clock.monotonic() - countedAt < keptMs) return
    counting ??= count()
    await counting
  }
}

export async function countFigures(hub: Hub, { byProject }: FigureWishes): Promise<void> {
  const { metrics, clock, rules, limits } = hub
  const db = longReader(hub)
  const now = clock.now()
  metrics.leases.set(await countLeases(db, now))
  metrics.overdue.set(await countOverdue(db, now - rules.overdueMs, mostOverdue))
  metrics.fullMailboxes.set(await countFull(db, limits.mailboxDepth))
  const { inboxes, attachments } = await quotaState(hub)
  metrics.overQuota.set(inboxes?.full ?? 0)
  metrics.nearQuota.labels('inbox').set(inboxes?.near ?? 0)
  metrics.nearQuota.labels('attachments').set(attachments?.near.length ?? 0)
  for (const { name, rows, since } of await listLags(db)) {
    metrics.lagRows.labels(name).set(rows)
    metrics.lagSeconds.labels(name).set(since === undefined ? 0 : Math.max(0, now - since) / 1000)
  }
  if (byProject) await countProjects(hub, now)
}

async function countProjects(hub: Hub, now: number): Promise<void> {
  const { projectMessages, projectUnread, projectLeases, projectAttachmentBytes } = hub.metrics
  // A project that is merged into another is none any more.
  for (const gauge of [projectMessages, projectUnread, projectLeases, projectAttachmentBytes]) gauge.clear()
  for (const { project, messages, unread, leases, attachment_bytes } of await listProjectFigures(
    longReader(hub),
    now,
    mostProjects,
  )) {
    projectMessages.labels(project).set(Number(messages))
    projectUnread.labels(project).set(Number(unread))
    projectLeases.labels(project).set(Number(leases))
    projectAttachmentBytes.labels(project).set(Number(attachment_bytes))
  }
}
