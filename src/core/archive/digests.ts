/** Digests of threads, made from the messages that are there: each message belongs to a part by its place in the thread. */
import { type DigestEntry, digestExcerpt, digestRange, digestText } from '../../archive/digest.ts'
import { listed, subjectLine } from '../../archive/documents.ts'
import { digestPart, digestPath, fileName, keyFile } from '../../archive/layout.ts'
import { type ArchivedThreadRow, listArchivedThreads, listDigestRows, listKeysAlike } from '../../store/archive.ts'
import { listRecipientsOf } from '../../store/mail.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { addCommit, type Commits, homeOf } from './homes.ts'
import { shownSubject } from './messages.ts'

/** Which parts of which threads, by their ids. */
export type Parts = ReadonlyMap<number, ReadonlySet<number>>

/** One commit for all digests of a project. */
export async function digestCommits(hub: Hub, parts: Parts): Promise<Commits> {
  const rows = await listArchivedThreads(reader(hub), [...parts.keys()])
  return commitsFor(hub, rows, (row) => parts.get(row.id) ?? [])
}

/** Whole digests. */
export const wholeDigests = (hub: Hub, rows: readonly ArchivedThreadRow[]): Promise<Commits> =>
  commitsFor(hub, rows, ({ next_seq }) =>
    Array.from({ length: Math.max(1, digestPart(next_seq - 1)) }, (_, n) => n + 1),
  )

async function commitsFor(
  hub: Hub,
  rows: readonly ArchivedThreadRow[],
  partsOf: (row: ArchivedThreadRow) => Iterable<number>,
): Promise<Commits> {
  await learnFiles(hub, rows)
  const commits: Commits = new Map()
  for (const [projectId, threads] of Map.groupBy(rows.filter(hasDigest), (row) => row.project_id)) {
    const files: { path: string; text: string }[] = []
    const topics = new Map<number, string>()
    let at = 0
    for (const row of threads) {
      if (row.name !== null) topics.set(row.id, row.uid)
      for (const part of partsOf(row)) {
        const { text, until } = await partText(hub, row, part)
        files.push({ path: digestPath(fileOf(hub, row), part), text })
        at = Math.max(at, until)
      }
    }
    const subject = subjectLine(`digest: ${listed(threads.map(nameOf))}`)
    addCommit(commits, (await homeOf(hub, projectId)).slug, { subject, at, files, topics })
  }
  return commits
}

/** A message that nobody has answered and that names no thread is its own page. */
const hasDigest = ({ name, key, next_seq }: ArchivedThreadRow): boolean => name !== null || key !== null || next_seq > 2

const nameOf = ({ name, key, uid, first_id }: ArchivedThreadRow): string =>
  name === null ? (key ?? String(first_id)) : uid

const files = memory(() => new Map<number, string>())

const fileOf = (hub: Hub, row: ArchivedThreadRow): string => files(hub).get(row.id) ?? fileName(nameOf(row))

/** A name stays with a thread: of two that differ only in case, the first has it as it is. */
async function learnFiles(hub: Hub, rows: readonly ArchivedThreadRow[]): Promise<void> {
  const known = files(hub)
  const named = rows.filter(({ id, key, name }) => key !== null && name === null && !known.has(id))
  if (named.length === 0) return
  const alike = await listKeysAlike(
    reader(hub),
    named.map(({ key }) => key ?? ''),
  )
  const byName = Map.groupBy(alike, ({ project_id, key }) => `${project_id} ${key.toLowerCase()}`)
  for (const { id, key, project_id } of named) {
    const others = byName.get(`${project_id} ${key?.toLowerCase()}`) ?? []
    const clash = others.some((other) => other.id < id && other.key !== key)
    remember(known, id, keyFile(key ?? '', clash))
  }
}

/** The text of a part, and the time of its last message. */
async function partText(hub: Hub, row: ArchivedThreadRow, part: number): Promise<{ text: string; until: number }> {
  const found = await listDigestRows(reader(hub), { threadId: row.id, ...digestRange(part), excerpt: digestExcerpt })
  const recipients = Map.groupBy(
    await listRecipientsOf(
      reader(hub),
      found.map(({ id }) => id),
      { blind: false },
    ),
    ({ message_id }) => message_id,
  )
  const party = async ({ name, project_id }: { name: string; project_id: number }) => ({
    name,
    project: (await homeOf(hub, project_id)).slug,
  })
  const entries: DigestEntry[] = []
  for (const { id, seq, created_at, sender, sender_project, subject, body, length } of found) {
    const to: DigestEntry['to'][number][] = []
    for (const one of recipients.get(id) ?? []) to.push(await party(one))
    entries.push({
      id,
      seq,
      createdAt: created_at,
      from: await party({ name: sender, project_id: sender_project }),
      to,
      subject: shownSubject(subject, body),
      body,
      length: Number(length),
    })
  }
  const topic = row.name === null ? {} : { topic: topicOf(row, row.name) }
  const thread = { name: nameOf(row), createdAt: row.created_at, ...topic }
  return {
    text: digestText(thread, part, entries, await homeOf(hub, row.project_id)),
    until: found.at(-1)?.created_at ?? row.created_at,
  }
}

const topicOf = (row: ArchivedThreadRow, name: string) => ({
  name,
  closedAt: row.closed_at ?? undefined,
  reason: row.close_reason ?? undefined,
})
