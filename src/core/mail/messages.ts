/** A message as mail shows it: sender, recipients, subject; blind copies only where they may be seen. */
import { limits } from '../../base/limits.ts'
import { firstLine } from '../../base/text.ts'
import type { Reader } from '../../db/port.ts'
import { listRecipientsOf, type MailRow, type RecipientOfRow } from '../../store/mail/mail.ts'
import type { DeliveryKind, Ending } from '../../store/messages/deliveries.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { slugsOf } from '../messages/addresses.ts'
import type { Importance } from '../messages/send.ts'
import { type Attachment, listAttachments } from '../messages/stored-attachments.ts'

/** An agent as others address it: by its name, and by its project where that is another one. */
export interface Party {
  readonly name: string
  /** The slug of its project, unless it is the reader's own. */
  readonly project: string | undefined
  readonly readAt: number | undefined
  readonly ackedAt: number | undefined
  /** How the message left its mailbox, where it did so unread. */
  readonly ended: Ending | undefined
}

export interface MailMessage {
  readonly id: number
  /** The name of its thread; undefined while it is the only message of a thread without a key. */
  readonly thread: string | undefined
  readonly from: Pick<Party, 'name' | 'project'>
  readonly to: readonly Party[]
  readonly cc: readonly Party[]
  /** Empty for everybody but the sender. */
  readonly bcc: readonly Party[]
  readonly subject: string
  readonly importance: Importance
  readonly ackRequired: boolean
  readonly createdAt: number
  /** How many messages in a row, up to this one, were written by agents that were woken. */
  readonly hops: number
  readonly attachments: readonly Attachment[]
  /** Absent where it was not asked for, or left out. */
  readonly body: string | undefined
  /** Whether the body was asked for and left out, because the answer would have become too large. */
  readonly bodyOmitted: boolean
}

interface Reading {
  readonly rows: readonly MailRow[]
  /** The project of the reader: its agents go by their plain names. */
  readonly home: number
  /** Whether blind copies are shown: to the sender alone. */
  readonly blind?: boolean
  /** Whether bodies were asked for. */
  readonly bodies?: boolean
  /** Characters of inline images that may come along. */
  readonly images?: number
}

export async function mailMessagesOf(
  hub: Hub,
  { rows, home, blind = false, bodies = false, images = bodies ? limits.answerInlineLength : 0 }: Reading,
  db: Reader = reader(hub),
): Promise<MailMessage[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const recipients = Map.groupBy(await listRecipientsOf(db, ids, { blind }), (row) => row.message_id)
  const slugs = await slugsOf(hub, home, [
    ...rows.map((row) => row.sender_project),
    ...[...recipients.values()].flat().map((row) => row.project_id),
  ])
  const attachments = await listAttachments(db, rows, { most: images, once: bodies })
  return rows.map((row) => {
    const parties: Record<DeliveryKind, Party[]> = { to: [], cc: [], bcc: [] }
    for (const recipient of recipients.get(row.id) ?? []) parties[recipient.kind].push(toParty(recipient, slugs))
    return {
      id: row.id,
      thread: row.thread_key ?? undefined,
      from: { name: row.sender, project: slugs.get(row.sender_project) },
      ...parties,
      subject: firstLine(row.subject),
      importance: row.importance,
      ackRequired: row.ack_required === 1,
      createdAt: row.created_at,
      hops: row.hops,
      attachments: attachments.get(row.id) ?? [],
      body: row.body ?? undefined,
      bodyOmitted: bodies && row.body === null,
    }
  })
}

const toParty = (
  { name, project_id, read_at, acked_at, ended }: RecipientOfRow,
  slugs: ReadonlyMap<number, string>,
): Party => ({
  name,
  project: slugs.get(project_id),
  readAt: read_at ?? undefined,
  ackedAt: acked_at ?? undefined,
  ended: ended ?? undefined,
})
