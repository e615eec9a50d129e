/** Changes as commits: what the feed tells of is read from the tables, and becomes files of the projects it concerns. */
import { subjectLine } from '../../archive/documents.ts'
import { digestPart, inboxPath } from '../../archive/layout.ts'
import { limits } from '../../base/limits.ts'
import { listArchivedAgents, listArchivedLeases, listMessagePlaces, listSizes } from '../../store/exports/archive.ts'
import type { Recorded } from '../../store/feed/changes.ts'
import { isCarried } from '../../store/mail/retiring.ts'
import { hashIn } from '../../store/messages/attachments.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { addCommit, addCommits, type Commits, homeOf } from './commits-by-project.ts'
import { listChanged, type Shelved } from './digest-locations.ts'
import { digestCommits } from './digests.ts'
import { listRemaining, readDetail } from './leaving.ts'
import { messageCommits } from './messages.ts'
import { leaseCommits, profileCommits } from './records.ts'

/** The changes in parts whose messages fit into memory. */
export async function partsOf(hub: Hub, changes: readonly Recorded[]): Promise<Recorded[][]> {
  const ids = changes.flatMap((change) => (isMessage(change) ? [change.messageId] : []))
  const sizes = new Map((await listSizes(reader(hub), ids)).map(({ id, bytes }) => [id, Number(bytes)]))
  const parts: Recorded[][] = [[]]
  let room: number = limits.archivedBytes
  for (const change of changes) {
    const size = isMessage(change) ? (sizes.get(change.messageId) ?? 0) : 0
    if (size > room && parts.at(-1)?.length !== 0) {
      parts.push([])
      room = limits.archivedBytes
    }
    parts.at(-1)?.push(change)
    room -= size
  }
  return parts
}

type Told = Extract<Recorded, { messageId: number; threadId: number }>

const isMessage = (change: Recorded): change is Told =>
  change.kind === 'message.sent' || change.kind === 'message.said' || change.kind === 'message.passed'

const idsOf = (changes: readonly Recorded[], key: 'agentId' | 'leaseId', prefix: string): number[] =>
  changes.flatMap((change) => {
    const id = change.kind.startsWith(prefix) ? (change as Partial<Record<typeof key, number>>)[key] : undefined
    return id === undefined ? [] : [id]
  })

/** The copy in the inbox of an agent leaves, unless the message came back to it. */
const withoutCopy = (commits: Commits, name: string, id: number): Commits =>
  new Map(
    [...commits].map(([slug, list]) => [
      slug,
      list.map((commit) => {
        const path = inboxPath(name, { id, createdAt: commit.at })
        return commit.files.some((file) => file.path === path) ? commit : { ...commit, removed: [path] }
      }),
    ]),
  )

/** Asked now: a send may have named a stored file while the mail that had it was moved out (mail.retention.files). */
async function uncarriedOf(hub: Hub, projectId: number, paths: readonly string[]): Promise<string[]> {
  const uncarried: string[] = []
  for (const path of paths) {
    const sha1 = hashIn(path)
    if (sha1 === undefined || !(await isCarried(reader(hub), { sha1, projectId }))) uncarried.push(path)
  }
  return uncarried
}

/**
 * In the order of the feed, the digests last. What is read is the present: a profile that changes twice is committed once,
 * and what is gone already is passed over.
 */
export async function commitsOf(hub: Hub, changes: readonly Recorded[]): Promise<Commits> {
  const db = reader(hub)
  const messageIds = changes.filter(isMessage).map(({ messageId }) => messageId)
  const messages = await messageCommits(hub, messageIds)
  const agents = new Map(
    (
      await listArchivedAgents(db, [
        ...idsOf(changes, 'agentId', 'agent.'),
        ...idsOf(changes, 'agentId', 'message.passed'),
      ])
    ).map((row) => [row.id, row]),
  )
  const leases = new Map(
    (await listArchivedLeases(db, idsOf(changes, 'leaseId', 'lease.'))).map((row) => [row.id, row]),
  )
  const commits: Commits = new Map()
  const parts = new Map<number, Set<number>>()
  const touch = (threadId: number, part: number) => parts.set(threadId, (parts.get(threadId) ?? new Set()).add(part))

  const remaining: Shelved[] = []
  for (const change of changes) {
    switch (change.kind) {
      case 'message.sent':
      case 'message.said':
        addCommits(commits, messages.get(change.messageId) ?? new Map())
        break
      case 'message.passed': {
        const [now, before] = [messages.get(change.messageId) ?? new Map(), agents.get(change.agentId)]
        addCommits(commits, before === undefined ? now : withoutCopy(now, before.name, change.messageId))
        break
      }
      case 'agent.created':
      case 'agent.updated':
      case 'agent.policy': {
        const row = agents.get(change.agentId)
        if (row !== undefined) addCommits(commits, await profileCommits(hub, row, change.at))
        break
      }
      case 'lease.granted':
      case 'lease.renewed':
      case 'lease.released':
      case 'lease.expired': {
        const row = leases.get(change.leaseId)
        if (row !== undefined) addCommits(commits, await leaseCommits(hub, row, change.at))
        break
      }
      case 'topic.created':
      case 'topic.closed':
      case 'topic.reopened':
      case 'topic.renamed':
        touch(change.threadId, 1)
        break
      case 'topic.deleted':
        addCommit(commits, (await homeOf(hub, change.projectId)).slug, {
          subject: subjectLine(`topic: number ${change.threadId} deleted`),
          at: change.at,
          files: [],
          forgets: change.threadId,
        })
        break
      case 'mail.retired': {
        const { paths, keys } = readDetail(change.detail)
        addCommit(commits, (await homeOf(hub, change.projectId)).slug, {
          subject: subjectLine('retention: old mail was moved out'),
          at: change.at,
          files: [],
          removed: await uncarriedOf(hub, change.projectId, paths),
        })
        remaining.push(...(await listRemaining(hub, change.projectId, keys)))
        break
      }
    }
  }
  for (const { thread_id, seq } of await listMessagePlaces(db, messageIds)) touch(thread_id, digestPart(seq))
  addCommits(commits, await digestCommits(hub, [...(await listChanged(hub, parts, messageIds)), ...remaining]))
  return commits
}
