/** Moving old mail out: a part is written into an export that lasts, and only then it is removed, in small commits. */
import { HubError } from '../../base/errors.ts'
import type { Tx } from '../../db/port.ts'
import { insertDetailed } from '../../store/feed/changes.ts'
import { listInvolved, lockThreads } from '../../store/mail/retiring.ts'
import { forgetNext } from '../../store/search/search.ts'
import { deleteMessages, deleteThreads, listGoing, updateAsDeleted } from '../../store/threads/removal.ts'
import { type Caller, housekeeper } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { type Leaving, listLeaving, toDetail } from '../archive/leaving.ts'
import type { Chore } from '../hub/chores.ts'
import { itself, type Note } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type JobLease, newHolder, takeJobLease } from '../hub/job-leases.ts'
import { keptProjects, oldBefore } from '../mail/retention-report.ts'
import { fileAll } from '../messages/filing.ts'
import { sweepStaged } from '../messages/staging.ts'
import { uncount } from '../pages/activity-counts.ts'
import type { Project } from '../projects/projects.ts'
import { finishRemovals } from '../topics/removal.ts'
import { exportProject } from './exporting.ts'
import type { ExportRecord } from './records.ts'
import { judgeThreads, listOld, type MovingRules, type OldThread } from './retention-plan.ts'

export type WriteRecord = (record: ExportRecord) => Promise<void>

export interface Moving extends MovingRules {
  /** Writes an export that survives the loss of power once this resolves; returns its name. */
  keep(project: Project, write: (record: WriteRecord) => Promise<unknown>): Promise<string>
  progress?(messages: number): void
}

export interface Moved {
  threads: number
  messages: number
  /** The exports, in the order in which they were written. */
  readonly exports: string[]
}

const jobName = 'retention-apply'

/** Killed at any point nothing is lost: what was written out and not removed yet is written out again by the next run. */
export async function applyRetention(hub: Hub, caller: Caller, moving: Moving): Promise<Moved> {
  needSteering(caller)
  let moved: Moved | undefined
  const { signal } = new AbortController()
  const taken = await takeJobLease(hub, { name: jobName, holder: newHolder(hub), everyMs: 0, signal }, async (job) => {
    moved = await moveAll(hub, job, moving)
  })
  if (taken && moved !== undefined) return moved
  throw new HubError('DB_BUSY', 'Another process moves old mail out already.', {
    hint: 'Wait until it is done, and look again with `parley retention plan`.',
  })
}

export const movingChore = (everyMs: number, moving: Moving): Chore => ({
  name: jobName,
  everyMs,
  async run(hub, job) {
    const { threads, messages, exports } = await moveAll(hub, job, moving)
    if (messages > 0) hub.log.info({ event: 'retention_applied', threads, messages, exports }, 'old mail was moved out')
  },
})

/** Of one export. */
const [mostMessages, mostBytes] = [2000, 32 * 2 ** 20]
/** Of one commit: others wait for it. */
const [messagesPerCommit, bytesPerCommit] = [100, 2 ** 20]

async function moveAll(hub: Hub, job: JobLease, moving: Moving): Promise<Moved> {
  const moved: Moved = { threads: 0, messages: 0, exports: [] }
  const before = oldBefore(hub, moving)
  // Threads are found by their newest message, which is filed behind the sends.
  await fileAll(hub)
  // A thread whose removal was cut off stands in an export already.
  await finishRemovals(hub)
  for await (const project of keptProjects(hub, moving.ignored)) {
    const pages = listOld(hub, project.id, before)
    for await (const threads of parts(flatten(pages), { messages: mostMessages, bytes: mostBytes })) {
      await job.renew()
      const threadIds = threads.map(({ id }) => id)
      const written = await moving.keep(project, (write) =>
        exportProject(hub, housekeeper, { project: project.slug, threadIds, write }),
      )
      moved.exports.push(written)
      for await (const batch of parts(threads, { messages: messagesPerCommit, bytes: bytesPerCommit })) {
        const gone = await retire(hub, job, { project, threads: batch, before })
        moved.threads += gone.length
        for (const { messages } of gone) moved.messages += messages
        moving.progress?.(moved.messages)
      }
    }
  }
  await sweepStaged(hub, housekeeper)
  while (await job.batch(forgetNext));
  return moved
}

async function* flatten(pages: AsyncIterable<{ readonly old: readonly OldThread[] }>): AsyncGenerator<OldThread> {
  for await (const { old } of pages) yield* old
}

/** Threads together, as many as fit; one that is larger stands alone. */
async function* parts(
  threads: AsyncIterable<OldThread> | Iterable<OldThread>,
  most: { readonly messages: number; readonly bytes: number },
): AsyncGenerator<OldThread[]> {
  let part: OldThread[] = []
  let [messages, bytes] = [0, 0]
  for await (const thread of threads) {
    if (part.length > 0 && (messages + thread.messages > most.messages || bytes + thread.bytes > most.bytes)) {
      yield part
      part = []
      messages = bytes = 0
    }
    part.push(thread)
    messages += thread.messages
    bytes += thread.bytes
  }
  if (part.length > 0) yield part
}

interface Batch {
  readonly project: Project
  readonly threads: readonly OldThread[]
  readonly before: number
}

/** Removes the threads that are as they were written out; one that somebody has written to since stays. */
async function retire(hub: Hub, job: JobLease, { project, threads, before }: Batch): Promise<OldThread[]> {
  const ids = threads.map(({ id }) => id)
  const leaving = await leavingOf(hub, project, ids)
  const gone = await job.batch(async (tx, note) => {
    await lockThreads(tx, ids)
    const now = new Map((await judgeThreads(tx, ids, before)).old.map((thread) => [thread.id, thread]))
    const gone = threads.filter(({ id, nextSeq }) => now.get(id)?.nextSeq === nextSeq)
    if (gone.length === 0) return gone
    const goneIds = gone.map(({ id }) => id)
    const rows = await listGoing(tx, goneIds)
    await noteLeaving(hub, { tx, note, leaving, goneIds })
    await uncount(
      tx,
      rows.map(({ id }) => id),
    )
    const [first] = goneIds
    if (rows.length > messagesPerCommit && first !== undefined) await updateAsDeleted(tx, first)
    else {
      await deleteMessages(tx, project.id, rows)
      await deleteThreads(tx, goneIds)
    }
    return gone
  })
  // The messages of a long thread go in parts.
  if (gone.some(({ messages }) => messages > messagesPerCommit)) await finishRemovals(hub)
  return gone
}

async function leavingOf(hub: Hub, project: Project, ids: readonly number[]): Promise<Leaving[]> {
  const involved = Map.groupBy(await listInvolved(reader(hub), ids), ({ thread_id }) => thread_id)
  return listLeaving(
    hub,
    ids.map((id) => {
      const rows = involved.get(id) ?? []
      return {
        id,
        messageIds: [...new Set(rows.map(({ message_id }) => message_id))],
        projectIds: [...new Set([project.id, ...rows.map(({ project_id }) => project_id)])],
      }
    }),
  )
}

/** Of one change. */
const mostPaths = 1000

interface Noting {
  readonly tx: Tx
  readonly note: Note
  readonly leaving: readonly Leaving[]
  readonly goneIds: readonly number[]
}

/** Before the rows go: the archives, here and on other nodes, learn of their files from the feed alone. */
async function noteLeaving(hub: Hub, { tx, note, leaving, goneIds }: Noting): Promise<void> {
  const gone = leaving.filter(({ threadId }) => goneIds.includes(threadId))
  for (const [projectId, all] of Map.groupBy(gone, (one) => one.projectId)) {
    const paths = [...all.flatMap((one) => [...one.paths]), ...new Set(all.flatMap(({ stored }) => [...stored]))]
    const keys = [...new Set(all.flatMap((one) => [...one.keys]))]
    for (let at = 0; at < paths.length; at += mostPaths) {
      const detail = toDetail({ paths: paths.slice(at, at + mostPaths), keys })
      const change = { kind: 'mail.retired' as const, projectId, detail }
      insertDetailed(tx, change, { actor: itself.key, now: hub.clock.now() })
      note(change, 'recorded')
    }
  }
}
