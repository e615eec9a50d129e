/** Digests of threads, made from the messages that are there: each message belongs to a part by its place in the thread. */
import { type DigestEntry, digestExcerpt, digestRange, digestText } from '../../archive/digest.ts'
import { subjectLine } from '../../archive/documents.ts'
import { digestPart, digestPath, threadFile } from '../../archive/layout.ts'
import type { Commit } from '../../archive/repository.ts'
import { type ArchivedThreadRow, listArchivedThreads, listDigestRows, listKeysAlike } from '../../store/archive.ts'
import { listRecipientsOf } from '../../store/mail.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { addCommit, type Commits, homeOf } from './homes.ts'
import { shownSubject } from './letters.ts'

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
  const made = new Map<string, { names: string[]; commit: Commit & { files: { path: string; text: string }[] } }>()
  for (const row of rows) {
    // A message that nobody has answered is its own page.
    if (row.name === null && row.key === null && row.next_seq <= 2) continue
    const { slug } = await homeOf(hub, row.project_id)
    const found = made.get(slug) ?? {
      names: [],
      commit: { subject: '', at: 0, files: [], topics: new Map<number, string>() },
    }
    const files = [...found.commit.files]
    let at = Math.max(found.commit.at, row.created_at)
    for (const part of partsOf(row)) {
      const { text, until } = await partText(hub, row, part)
      files.push({ path: digestPath(fileOf(hub, row), part), text })
      at = Math.max(at, until)
    }
    const topics =
      row.name === null ? found.commit.topics : new Map([...(found.commit.topics ?? []), [row.id, row.uid]])
    made.set(slug, {
      names: [...found.names, nameOf(row)],
      commit: { ...found.commit, at, files, ...(topics && { topics }) },
    })
  }
  const commits: Commits = new Map()
  for (const [slug, { names, commit }] of made)
    addCommit(commits, slug, { ...commit, subject: subjectLine(`digest: ${some(names)}`) })
  return commits
}

const some = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')

const nameOf = ({ name, key, uid, first_id }: ArchivedThreadRow): string =>
  name === null ? (key ?? String(first_id)) : uid

const files = memory(() => new Map<number, string>())

export const fileOf = (hub: Hub, row: ArchivedThreadRow): string =>
  files(hub).get(row.id) ?? threadFile(nameOf(row), false)

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
    remember(known, id, threadFile(key ?? '', clash))
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
    until: found.at(-1)?.created_at ?? 0,
  }
}

const topicOf = (row: ArchivedThreadRow, name: string) => ({
  name,
  closedAt: row.closed_at ?? undefined,
  reason: row.close_reason ?? undefined,
})
