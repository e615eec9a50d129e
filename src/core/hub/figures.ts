/** Gauges that need a query, counted in the background: a scrape of the metrics asks the database for none of them (serve.metrics.behind). */
import { countFull, countLeases, countOverdue, listLags, listProjectFigures } from '../../store/figures.ts'
import { type Hub, longReader } from './hub.ts'
import { keepLooking } from './keep-looking.ts'
import { quotaState } from './quotas.ts'

const everyMs = 15_000

/** Beyond this many nobody needs the exact number. */
const mostOverdue = 10_000

/** Each is a line of five metrics. */
const mostProjects = 500

export interface FigureWishes {
  /** Whether the largest projects are counted one by one (METRICS_BY_PROJECT). */
  readonly byProject: boolean
}

export const keepFigures = (hub: Hub, wishes: FigureWishes): (() => Promise<void>) =>
  keepLooking(hub, {
    gatherMs: 0,
    firstMs: 0,
    backOff: { firstMs: everyMs, longestMs: everyMs, wakesShorten: false },
    failure: 'the figures of the metrics could not be counted; it is tried again',
    look: async () => {
      await countFigures(hub, wishes)
      return { inMs: everyMs }
    },
  }).stop

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
