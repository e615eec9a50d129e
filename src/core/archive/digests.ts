/** Digests of threads, made from the messages that are there: each message belongs to a part by its place in the thread. */
import { type DigestEntry, digestExcerpt, digestRange, digestText } from '../../archive/digest.ts'
import { listed, subjectLine } from '../../archive/documents.ts'
import { digestPath } from '../../archive/layout.ts'
import { type ArchivedThreadRow, type DigestRow, listDigestRows } from '../../store/exports/archive.ts'
import { listRecipientsOf } from '../../store/mail/mail.ts'
import { attachmentsOf } from '../../store/messages/attachments.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { addCommit, type Commits, homeOf } from './commits-by-project.ts'
import { fileOf, learnFiles, nameOf, type Shelved } from './digest-locations.ts'
import { shownSubject } from './messages.ts'

/** One commit for all digests of a project. */
export async function digestCommits(hub: Hub, shelved: readonly Shelved[]): Promise<Commits> {
  await learnFiles(hub, shelved)
  const commits: Commits = new Map()
  for (const [projectId, digests] of Map.groupBy(shelved, (digest) => digest.projectId)) {
    const files: { path: string; text: string }[] = []
    const topics = new Map<number, string>()
    let at = 0
    for (const digest of digests) {
      const { head, parts } = digest
      if (head.name !== null) topics.set(head.id, head.uid)
      for (const part of parts) {
        const { text, until } = await partText(hub, digest, part)
        files.push({ path: digestPath(fileOf(hub, digest), part), text })
        at = Math.max(at, until)
      }
    }
    const subject = subjectLine(`digest: ${listed(digests.map(({ head }) => nameOf(head)))}`)
    addCommit(commits, (await homeOf(hub, projectId)).slug, { subject, at, files, topics })
  }
  return commits
}

/** The messages of a part: of each thread those with its places, in the order in which they came. */
async function rowsOf(hub: Hub, { projectId, rows }: Shelved, part: number): Promise<DigestRow[]> {
  const range = { ...digestRange(part), excerpt: digestExcerpt }
  const found: DigestRow[] = []
  for (const { id: threadId, project_id } of rows) {
    const guest = project_id === projectId ? undefined : projectId
    found.push(...(await listDigestRows(reader(hub), { threadId, guest, ...range })))
  }
  if (rows.length === 1 && rows[0]?.project_id === projectId) return found
  // The places in threads of others would tell how much is said there.
  return found.sort((one, other) => one.id - other.id).map((row, index) => ({ ...row, seq: range.from + index }))
}

/** The text of a part, and the time of its last message. */
async function partText(hub: Hub, digest: Shelved, part: number): Promise<{ text: string; until: number }> {
  const { projectId, head } = digest
  const found = await rowsOf(hub, digest, part)
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
  for (const { id, seq, created_at, sender, sender_project, subject, body, length, attachments } of found) {
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
      stored: attachmentsOf(attachments).flatMap((one) => (one.type === 'file' ? [one.path] : [])),
    })
  }
  const createdAt = head.project_id === projectId ? head.created_at : (found[0]?.created_at ?? head.created_at)
  const topic = head.name === null ? {} : { topic: topicOf(head, head.name) }
  return {
    text: digestText({ name: nameOf(head), createdAt, ...topic }, part, entries, await homeOf(hub, projectId)),
    until: Math.max(createdAt, ...found.map((row) => row.created_at)),
  }
}

const topicOf = (row: ArchivedThreadRow, name: string) => ({
  name,
  closedAt: row.closed_at ?? undefined,
  reason: row.close_reason ?? undefined,
})
