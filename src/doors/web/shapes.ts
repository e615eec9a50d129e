/** The data of the pages in the words of mail: snake_case, ISO times, names as others address them (web.pages.json). */
import type { Profile } from '../../core/agents/profiles.ts'
import type { PageLease } from '../../core/pages/leases.ts'
import type { PageProject } from '../../core/pages/projects.ts'
import type { PageThread } from '../../core/pages/threads.ts'
import { addressIn } from '../words/addresses.ts'
import { toReservation } from '../words/leases.ts'
import { toMessage } from '../words/page-mail.ts'
import { toProfile } from '../words/profiles.ts'
import { iso, isoOrNull } from '../words/times.ts'
import { urlWith, type Visit } from './site.ts'

export { addressIn } from '../words/addresses.ts'
export { toBoxed, toMessage, toRecipient } from '../words/page-mail.ts'

export const toProject = (project: PageProject) => ({
  slug: project.slug,
  human_key: project.key,
  created_at: iso(project.createdAt),
  agents: project.agents,
  messages: project.messages,
  unread: project.unread,
  last_active_ts: isoOrNull(project.activeAt),
  siblings: project.siblings,
})

export const toThread = (project: string, thread: PageThread) => ({
  thread_id: thread.id,
  key: thread.key ?? null,
  topic: thread.topic ?? null,
  subject: thread.subject,
  status: thread.status,
  participants: thread.participants.map(addressIn(project)),
  count: thread.count,
  last_message: thread.last === undefined ? null : toMessage(thread.last),
})

export const toAgent = (agent: Profile & { readonly waiting?: boolean; readonly leases?: number }) => ({
  ...toProfile(agent),
  ...(agent.waiting !== undefined && { waiting: agent.waiting }),
  ...(agent.leases !== undefined && { leases: agent.leases }),
})

export const toLease = (lease: PageLease) => ({
  ...toReservation(lease),
  state: lease.state,
  holder_last_seen_ts: lease.holderSeenAt === 0 ? null : iso(lease.holderSeenAt),
  conflicts: lease.conflicts.map(({ id, agent, pattern }) => ({ id, agent, path_pattern: pattern })),
})

/** The address of the next page, or null. */
export const nextUrl = (visit: Visit, next: number | undefined, name = 'before'): string | null =>
  next === undefined
    ? null
    : urlWith(visit, { before: undefined, after: undefined, page: undefined, done: undefined, [name]: next })
