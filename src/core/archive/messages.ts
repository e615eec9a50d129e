/** Messages as commits: the canonical file and the outbox in the sender's project, inbox copies in the recipients'. */
import { type ArchivedMessage, type Home, messageSubject, messageText, type Party } from '../../archive/documents.ts'
import { inboxPath, messagePath, outboxPath } from '../../archive/layout.ts'
import type { Commit } from '../../archive/repository.ts'
import type { ArchivedMessageRow } from '../../store/exports/archive.ts'
import { listArchivedMessages } from '../../store/exports/archive.ts'
import { listRecipientsOf, type RecipientOfRow } from '../../store/mail/mail.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type Attachment, listAttachments } from '../messages/stored-attachments.ts'
import { type Commits, homeOf } from './commits-by-project.ts'
import { storedFiles } from './stored.ts'

/** By the ids of the messages. Those that are gone by now are missing. */
export async function messageCommits(hub: Hub, ids: readonly number[]): Promise<Map<number, Commits>> {
  const rows = await listArchivedMessages(reader(hub), ids)
  const recipients = Map.groupBy(
    await listRecipientsOf(
      reader(hub),
      rows.map(({ id }) => id),
      { blind: true },
    ),
    (row) => row.message_id,
  )
  const attachments = await listAttachments(reader(hub), rows, { most: Number.MAX_SAFE_INTEGER })
  const all = new Map<number, Commits>()
  for (const row of rows)
    all.set(
      row.id,
      await commitsOf(hub, row, {
        recipients: recipients.get(row.id) ?? [],
        attachments: attachments.get(row.id) ?? [],
      }),
    )
  return all
}

/** The first line of a message that has no subject, as far as a list shows it. */
export const shownSubject = (subject: string | null, body: string): string =>
  subject ?? body.trimStart().slice(0, 120).split('\n', 1)[0]?.trim().toWellFormed() ?? ''

async function commitsOf(
  hub: Hub,
  row: ArchivedMessageRow,
  { recipients, attachments }: { recipients: readonly RecipientOfRow[]; attachments: readonly Attachment[] },
): Promise<Commits> {
  const homes = new Map<number, Home>()
  for (const id of [row.sender_project, ...recipients.map(({ project_id }) => project_id)])
    if (!homes.has(id)) homes.set(id, await homeOf(hub, id))
  const party = ({ name, project_id }: { name: string; project_id: number }): Party => ({
    name,
    project: homes.get(project_id)?.slug ?? '',
  })
  const kinds = (kind: RecipientOfRow['kind']) => recipients.filter((one) => one.kind === kind).map(party)
  const message: ArchivedMessage = {
    id: row.id,
    createdAt: row.created_at,
    thread: row.topic ?? row.thread_key ?? String(row.first_id),
    from: party({ name: row.sender, project_id: row.sender_project }),
    to: kinds('to'),
    cc: kinds('cc'),
    bcc: kinds('bcc'),
    subject: shownSubject(row.subject, row.body),
    importance: row.importance,
    ackRequired: row.ack_required === 1,
    body: row.body,
    attachments,
    ...(row.topic !== null && {
      said: {
        seq: row.seq,
        kind: row.kind,
        replyTo: row.reply_to ?? undefined,
        metadata: row.metadata === null ? undefined : (JSON.parse(row.metadata) as unknown),
      },
    }),
  }
  // Each archive has the files beside its copies of the message, hence tells of no recipient in another.
  const stored = storedFiles(hub, row.sender_project, attachments)
  const commits: Commits = new Map()
  for (const [projectId, home] of homes) {
    const here = recipients.filter(({ project_id }) => project_id === projectId)
    const commit = commitIn(home, message, here, projectId === row.sender_project)
    commits.set(home.slug, [stored.length === 0 ? commit : { ...commit, stored }])
  }
  return commits
}

/** A blind copy is known to its sender and to itself alone (mail.archive.bcc). */
function commitIn(
  home: Home,
  message: ArchivedMessage,
  recipients: readonly RecipientOfRow[],
  isSenders: boolean,
): Commit {
  const copy = (path: string, bcc: readonly Party[] = []) => ({ path, text: messageText(message, home, { path, bcc }) })
  const copies = recipients.map(({ name, kind }) =>
    copy(inboxPath(name, message), kind === 'bcc' ? [{ name, project: home.slug }] : []),
  )
  const own = [
    copy(messagePath(message)),
    ...(message.said ? [] : [copy(outboxPath(message.from.name, message), message.bcc)]),
  ]
  // A commit that is there for a blind copy only is found by nobody.
  const shown = isSenders || recipients.some(({ kind }) => kind !== 'bcc')
  return {
    subject: messageSubject(message, home),
    at: message.createdAt,
    files: [...(isSenders ? own : []), ...copies],
    about: shown ? [{ noun: 'messages', id: message.id }] : [],
  }
}
