/** Writing out a project or one of its threads, as of one moment, a record at a time. */
import type { Reader } from '../../db/port.ts'
import {
  listAgentsFrom,
  listDeliveriesOf,
  listMessagesFrom,
  listPeopleOf,
  listThreadsFrom,
  type TransferDeliveryRow,
  type TransferMessageRow,
  theseThreads,
  threadsOfProject,
} from '../../store/exports/transfer.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import type { ContactPolicy } from '../agents/agents.ts'
import { type Hub, snapshot } from '../hub/hub.ts'
import { type Attachment, listAttachments } from '../messages/stored-attachments.ts'
import { needProject, type Project } from '../projects/projects.ts'
import { noThread } from '../threads/mail-threads.ts'
import { filesOf } from './files.ts'
import type { EndRecord, ExportRecord, MessageRecord, Person, ThreadRecord } from './records.ts'

interface Exporting {
  /** Its slug or key. */
  readonly project: string
  /** Its key, its uid, the name of a topic, or the number of its first message. */
  readonly thread?: string | undefined
  /** The numbers of the threads, in the place of one by name: only those who take part in them come along. */
  readonly threadIds?: readonly number[]
  /** Each thread with its messages behind it, to be read; else all messages in the order in which they were sent. */
  readonly byThread?: boolean
  /** Whether the files of the messages come too. */
  readonly files?: boolean
  write(record: ExportRecord): Promise<void>
}

const pageSize = 200

export async function exportProject(hub: Hub, caller: Caller, wish: Exporting): Promise<EndRecord> {
  needSteering(caller)
  const project = await needProject(hub, caller, wish.project)
  const { thread, threadIds, byThread = false, write } = wish
  const written = wish.files === false ? undefined : new Set<string>()
  return snapshot(hub, async (db) => {
    const { slug, key, createdAt } = project
    await write({ type: 'begin', project: { slug, key, createdAt }, thread, at: hub.clock.now() })
    const counts = { agents: 0, threads: 0, messages: 0 }
    const among = threadIds && (await listPeopleOf(db, threadIds))
    for await (const row of pages((after) => listAgentsFrom(db, project.id, { after, limit: pageSize, among }))) {
      const { name, program, model, task, contact_policy, keyed, active_at, created_at } = row
      const profile = { name, program, model, task, policy: contact_policy as ContactPolicy, keyed: keyed === 1 }
      await write({ type: 'agent', ...profile, activeAt: active_at, createdAt: created_at })
      counts.agents++
    }
    const found: number[] = []
    const threads = { projectId: project.id, called: thread, ids: threadIds, limit: pageSize }
    const some = thread !== undefined || threadIds !== undefined
    for await (const row of pages((after) => listThreadsFrom(db, { ...threads, after }))) {
      await write(toThread(row))
      counts.threads++
      if (byThread) counts.messages += await writeMessages(db, project, [row.id], { write, written })
      else if (some) found.push(row.id)
    }
    if (thread !== undefined && counts.threads === 0) throw noThread(project, thread)
    if (!byThread) counts.messages += await writeMessages(db, project, some ? found : undefined, { write, written })
    const end: EndRecord = { type: 'end', ...counts }
    await write(end)
    return end
  })
}

async function* pages<Row extends { id: number }>(list: (after: number) => Promise<Row[]>): AsyncGenerator<Row> {
  for (let after = 0; ; ) {
    const rows = await list(after)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = last.id
  }
}

interface Writing {
  write: Exporting['write']
  /** The files that were written so far; undefined leaves all of them out. */
  readonly written: Set<string> | undefined
}

async function writeMessages(
  db: Reader,
  project: Project,
  of: readonly number[] | undefined,
  { write, written }: Writing,
): Promise<number> {
  const threads = of === undefined ? threadsOfProject(project.id) : theseThreads(of)
  let count = 0
  for (let after = 0; ; ) {
    const rows = await listMessagesFrom(db, { threads, after, limit: pageSize })
    const ids = rows.map(({ id }) => id)
    const deliveries = Map.groupBy(await listDeliveriesOf(db, ids), ({ message_id }) => message_id)
    const carried = await listAttachments(db, rows, { most: Number.MAX_SAFE_INTEGER })
    for (const row of rows) {
      const message = toMessage(row, { deliveries: deliveries.get(row.id), attachments: carried.get(row.id) }, project)
      const { from, attachments } = message
      if (written !== undefined)
        for await (const file of filesOf(db, { projectId: row.sender_project_id, attachments }, written))
          await write({ type: 'file', project: from.project, ...file })
      await write(message)
    }
    count += rows.length
    const last = ids.at(-1)
    if (last === undefined || rows.length < pageSize) return count
    after = last
  }
}

const person = (name: string, project: string, home: Project): Person =>
  project === home.key ? { name } : { name, project }

const toThread = (row: Awaited<ReturnType<typeof listThreadsFrom>>[number]): ThreadRecord => ({
  type: 'thread',
  uid: row.uid,
  key: row.key ?? undefined,
  name: row.name ?? undefined,
  status: row.status,
  metadata: row.metadata ?? undefined,
  createdAt: row.created_at,
  closedAt: row.closed_at ?? undefined,
  closeReason: row.close_reason ?? undefined,
})

const toMessage = (
  row: TransferMessageRow,
  {
    deliveries = [],
    attachments = [],
  }: {
    deliveries: readonly TransferDeliveryRow[] | undefined
    attachments: readonly Attachment[] | undefined
  },
  home: Project,
): MessageRecord => ({
  type: 'message',
  id: row.id,
  uid: row.uid,
  thread: row.thread_uid,
  seq: row.seq,
  from: person(row.sender, row.sender_project, home),
  clientId: row.client_id ?? undefined,
  kind: row.kind,
  replyTo: row.reply_to ?? undefined,
  subject: row.subject ?? undefined,
  importance: row.importance,
  ackRequired: row.ack_required === 1,
  mail: row.mail === 1,
  body: row.body,
  attachments,
  metadata: row.metadata ?? undefined,
  createdAt: row.created_at,
  author: row.author ?? undefined,
  to: deliveries.map(({ name, project, kind, read_at, acked_at, ended }) => ({
    ...person(name, project, home),
    kind,
    readAt: read_at ?? undefined,
    ackedAt: acked_at ?? undefined,
    ended: ended ?? undefined,
  })),
})
