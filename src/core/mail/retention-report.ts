/** The retention report: how much mail each project holds, how much of it is old, whose inbox is full. Nothing is deleted. */
import {
  countInboxAfter,
  countSent,
  findInInbox,
  type InboxOwnerRow,
  listInboxOwners,
} from '../../store/mail/mail-totals.ts'
import { findAttachmentBytes } from '../../store/messages/attachments.ts'
import { type Caller, housekeeper } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import type { Chore } from '../hub/chores.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { listProjects, type Project } from '../projects/projects.ts'

export interface RetentionRules {
  readonly everyMs: number
  /** The age from which mail is old. */
  readonly maxAgeDays: number
  /** Slugs, with or without the hash at their end, of projects that are left out; `*` stands for anything. */
  readonly ignored: readonly string[]
  /** How many messages an inbox may hold; 0 is any number. */
  readonly inboxLimit: number
}

/** A query over so many takes a millisecond. */
const rowsPerQuery = 10_000
const pageSize = 100

/** A run that is cut off is begun anew by the next: it only reports. */
export const retentionChore = (rules: RetentionRules): Chore => ({
  name: 'retention-report',
  everyMs: rules.everyMs,
  async run(hub, job) {
    for await (const found of surveys(hub, housekeeper, { ...rules, pause: () => job.renew() })) tell(hub, rules, found)
  },
})

interface Reporting extends Pick<RetentionRules, 'maxAgeDays' | 'ignored' | 'inboxLimit'> {
  /** Lets others in between two parts. */
  pause(): Promise<void>
}

/** The report by one project after the other. */
export async function* surveys(hub: Hub, caller: Caller, { pause, ...rules }: Reporting): AsyncGenerator<Survey> {
  needSteering(caller)
  const time = oldBefore(hub, rules)
  for await (const project of keptProjects(hub, rules.ignored)) yield survey(hub, pause, { project, time, ...rules })
}

/** Mail sent before this is old. */
export const oldBefore = (hub: Hub, { maxAgeDays }: Pick<RetentionRules, 'maxAgeDays'>): number =>
  hub.clock.now() - maxAgeDays * 86_400_000

/** The projects that retention does not leave out. */
export async function* keptProjects(hub: Hub, ignored: readonly string[]): AsyncGenerator<Project> {
  const patterns = ignored.map(wildcard)
  for (let after = 0; ; ) {
    const { projects, hasMore } = await listProjects(hub, housekeeper, { after, limit: pageSize })
    for (const project of projects) if (!isIgnored(project, patterns)) yield project
    const last = projects.at(-1)
    if (last === undefined || !hasMore) return
    after = last.id
  }
}

export interface Survey {
  project: string
  agents: number
  /** Sent by agents of the project. */
  messages: number
  oldMessages: number
  unread: number
  largest: { agent: string; messages: number } | undefined
  /** The number of full inboxes. */
  full: number
  attachmentBytes: number
}

type Pause = () => Promise<void>

interface Surveying extends Pick<RetentionRules, 'inboxLimit'> {
  readonly project: Project
  /** Mail sent before this is old. */
  readonly time: number
}

async function survey(hub: Hub, pause: Pause, { project, time, inboxLimit }: Surveying): Promise<Survey> {
  const found: Survey = {
    project: project.slug,
    agents: 0,
    messages: 0,
    oldMessages: 0,
    unread: 0,
    largest: undefined,
    full: 0,
    attachmentBytes: await findAttachmentBytes(reader(hub), project.id),
  }
  for (let after = ''; ; ) {
    await pause()
    const owners = await listInboxOwners(reader(hub), project.id, { after, limit: pageSize })
    for (const owner of owners) {
      const sent = await countAllSent(hub, pause, owner, time)
      const size = await countInbox(hub, pause, owner)
      found.agents++
      found.messages += sent.count
      found.oldMessages += sent.old
      found.unread += owner.unread
      if (size > (found.largest?.messages ?? 0)) found.largest = { agent: owner.name, messages: size }
      if (inboxLimit > 0 && size >= inboxLimit) found.full++
    }
    const last = owners.at(-1)
    if (last === undefined || owners.length < pageSize) return found
    after = last.name_key
  }
}

async function countAllSent(hub: Hub, pause: Pause, { id: senderId }: InboxOwnerRow, time: number) {
  const all = { count: 0, old: 0 }
  for (let after = 0; ; ) {
    await pause()
    const part = await countSent(reader(hub), { senderId, after, time, most: rowsPerQuery })
    all.count += part.count
    all.old += part.old
    if (part.count < rowsPerQuery) return all
    after = part.last
  }
}

async function countInbox(hub: Hub, pause: Pause, { id: recipientId }: InboxOwnerRow): Promise<number> {
  for (let after = 0, count = 0; ; count += rowsPerQuery) {
    await pause()
    const next = await findInInbox(reader(hub), recipientId, { after, steps: rowsPerQuery })
    if (next === undefined)
      return count + (await countInboxAfter(reader(hub), { recipientId, after, most: rowsPerQuery }))
    after = next.id
  }
}

function tell(hub: Hub, { maxAgeDays, inboxLimit }: RetentionRules, found: Survey): void {
  hub.log[found.full > 0 ? 'warn' : 'info'](
    {
      event: 'retention_report',
      project: found.project,
      agents: found.agents,
      messages: found.messages,
      old_messages: found.oldMessages,
      max_age_days: maxAgeDays,
      unread: found.unread,
      attachment_bytes: found.attachmentBytes,
      largest_inbox: found.largest ?? null,
      ...(inboxLimit > 0 && { inbox_limit: inboxLimit, full_inboxes: found.full }),
    },
    found.full > 0 ? 'mail of a project; an inbox is full' : 'mail of a project',
  )
}

const wildcard = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*')}$`, 'i')

/** A pattern names the readable part of a slug, too: nobody knows the hash before the project is made. */
const isIgnored = ({ slug }: Project, patterns: readonly RegExp[]): boolean =>
  patterns.some((pattern) => pattern.test(slug) || pattern.test(slug.replace(/-[0-9a-f]{6}$/, '')))
