/** The boards of late mail over all projects: mail that is unread for long or urgent, acknowledgements that are due or overdue. */
import { countLate, type LateView, listLate, listReminders } from '../../store/pages/late-mail.ts'
import type { PageRecipientRow } from '../../store/pages/page-messages.ts'
import type { Caller } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { needProject, slugOfProject } from '../projects/projects.ts'
import { keep } from './kept.ts'
import { listWithRows, type Page, type PageMessage, pageOf, type Who } from './page-message.ts'

export type { LateView } from '../../store/pages/late-mail.ts'

/** Unread for longer than this wants attention. */
const longUnreadMs = 3_600_000

/** Counting stops after so many deliveries: the pages then say that there are more. */
const mostCounted = 1000

/** Of messages: what its list has. */
interface AttentionCounts {
  readonly unread: number
  readonly urgent: number
  readonly ackRequired: number
  readonly ackOverdue: number
  /** There are more than these say. */
  readonly capped: ReadonlySet<LateView>
}

export async function countAttention(
  hub: Hub,
  caller: Caller,
  { project, mark }: { readonly project?: string | undefined; readonly mark?: string | undefined } = {},
): Promise<AttentionCounts> {
  const projectId = project === undefined ? undefined : (await needProject(hub, caller, project)).id
  return keep(hub, caller, { name: `late ${projectId ?? ''}`, mark }, async () => {
    const capped = new Set<LateView>()
    const count = async (view: LateView): Promise<number> => {
      const query = { view, projectId, sight: pageSight(caller), sentBefore: sentBefore(hub, view), most: mostCounted }
      const { messages, more } = await countLate(reader(hub), query)
      if (more) capped.add(view)
      return messages
    }
    return {
      unread: await count('unread'),
      urgent: await count('urgent'),
      ackRequired: await count('ack-required'),
      ackOverdue: await count('ack-overdue'),
      capped,
    }
  })
}

function sentBefore(hub: Hub, view: LateView): number | undefined {
  const now = hub.clock.now()
  if (view === 'unread') return now - longUnreadMs
  return view === 'ack-overdue' ? now - hub.rules.overdueMs : undefined
}

/** A recipient that is late, since when, and when it was last reminded. */
interface Late extends Who {
  readonly since: number
  readonly remindedAt: number | undefined
}

interface AttentionWish {
  readonly view: LateView
  readonly project?: string | undefined
  readonly before?: number | undefined
  readonly limit: number
  /** The mark of the end of the feed, where a list that was read at it may be shown. */
  readonly mark?: string | undefined
}

type LateMail = Page<PageMessage & { readonly late: readonly Late[] }>

/** Newest first, each with those who are late. */
export async function listAttention(
  hub: Hub,
  caller: Caller,
  { project, mark, ...wish }: AttentionWish,
): Promise<LateMail> {
  const projectId = project === undefined ? undefined : (await needProject(hub, caller, project)).id
  const name = `late ${projectId ?? ''} ${wish.view} ${wish.before ?? ''} ${wish.limit}`
  return keep(hub, caller, { name, mark }, () => lateMail(hub, caller, { ...wish, projectId }))
}

async function lateMail(
  hub: Hub,
  caller: Caller,
  { view, projectId, before, limit }: AttentionWish & { readonly projectId: number | undefined },
): Promise<LateMail> {
  const sight = pageSight(caller)
  const query = { view, projectId, sight, sentBefore: sentBefore(hub, view), below: before, limit: limit + 1 }
  const { items, next } = pageOf(await listLate(reader(hub), query), limit, (id) => id)
  const reminders = new Map(
    (await listReminders(reader(hub), items)).map((row) => [`${row.message_id}/${row.recipient_id}`, row.reminded_at]),
  )
  const listed = []
  for (const { message, recipients } of await listWithRows(hub, sight, items)) {
    const late: Late[] = []
    for (const row of recipients)
      if (isLate(view, row) && (projectId === undefined || row.project_id === projectId))
        late.push({
          name: row.name,
          project: await slugOfProject(hub, row.project_id),
          since: row.sent_at,
          remindedAt: reminders.get(`${message.id}/${row.id}`),
        })
    listed.push({ ...message, late })
  }
  return { items: listed, next }
}

const isLate = (view: LateView, { read_at, acked_at, ack_wanted, ended }: PageRecipientRow): boolean =>
  ended === null && (view === 'unread' || view === 'urgent' ? read_at === null : ack_wanted === 1 && acked_at === null)
