/** Storing messages, with everything a message may have. */
import { can } from '../../db/dialect.ts'
import { autocommit, type Tx } from '../../db/port.ts'
import { type About, insertConversation } from '../mail/conversations.ts'
import { insertThread, takeSeq } from '../threads/threads.ts'
import { countUnread, type Terms } from './admission.ts'
import { insertCarriers, insertInline } from './attachments.ts'
import { insertClientIds } from './client-ids.ts'
import { type DeliveryKind, insertDeliveries } from './deliveries.ts'
import { insertGuests } from './guests.ts'
import { mailBatch, type PlacedRow } from './mail-batch.ts'
import { insertMessage, type NewMessage } from './messages.ts'
import { insertTrace } from './traces.ts'

/** A message, and the rows that are stored along with it. */
export interface NewMail {
  readonly message: Omit<NewMessage, 'threadId' | 'seq'>
  /** Without one the message begins a thread. */
  readonly threadId?: number | undefined
  /** The project of a thread that it begins, and of its entry in the feed. */
  readonly projectId: number
  /** The name of a thread that it begins. */
  readonly key?: string | undefined
  readonly to?: readonly { readonly id: number; readonly kind: DeliveryKind }[]
  /** The conditions that each recipient has to meet. */
  readonly terms?: Terms
  /** The id under which its sender finds it again. */
  readonly called?: string | undefined
  /** The hash of its body, where the sender has used that id for another one. */
  readonly bodyHash?: string | undefined
  /** The projects, besides its thread's own, that may see it. */
  readonly guests?: readonly number[]
  /** The conversation that its thread is from now on. */
  readonly about?: About | undefined
  readonly images?: readonly { readonly position: number; readonly data_uri: string }[]
  /** By which the content of its attachments is found. */
  readonly sha1s?: readonly string[]
  /** The trace of its sender's request, where that is recorded. */
  readonly traceparent?: string | undefined
  /** Its entry in the feed, where its unit is one statement; others note theirs. `wakes` ends where the id of the thread goes. */
  readonly feed?: { readonly actor: string; readonly wakes: string }
}

/** A recipient as the send found it: how much it had unread before this message, and when it was last active. */
export interface Found {
  readonly unread: number
  readonly activeAt: number
}

export interface Placed {
  readonly threadId: number
  readonly seq: number
  readonly messageId: number
  /** By the ids of the recipients; absent where it would take another statement. */
  readonly found?: ReadonlyMap<number, Found>
}

/**
 * Counts each message as unread, takes the next place of its thread, puts it there and delivers it. Undefined for one whose
 * recipients do not all meet the terms, or whose topic is closed. The rows of recipients are locked before it takes its id.
 */
export async function insertMail(tx: Tx, all: readonly NewMail[]): Promise<(Placed | undefined)[]> {
  if (can(tx).autocommitBatches) return byNumber(all, await tx.all<PlacedRow>(mailBatch(all, { hurried: false })))
  const placed: (Placed | undefined)[] = []
  for (const mail of all) placed.push(await insertInTurn(tx, mail))
  return placed
}

/** The same as one statement that is the whole unit (PostgreSQL). */
export const insertMailBatch = async (tx: Tx, all: readonly NewMail[]): Promise<(Placed | undefined)[]> =>
  byNumber(all, await autocommit<PlacedRow>(tx, mailBatch(all, { hurried: true })))

/** There is a row for each recipient. Those of one batch found the same counter: the earlier ones come before. */
function byNumber(all: readonly NewMail[], rows: readonly PlacedRow[]): (Placed | undefined)[] {
  const placed: (Placed | undefined)[] = all.map(() => undefined)
  const recipients = all.map(() => new Map<number, Found>())
  const earlier = new Map<number, number>()
  for (const row of rows.toSorted((a, b) => a.n - b.n)) {
    const { n, thread_id: threadId, seq, message_id: messageId, id, unread, active_at: activeAt } = row
    const found = recipients[n] ?? new Map<number, Found>()
    placed[n] ??= { threadId, seq, messageId, found }
    if (id === null) continue
    const before = earlier.get(id) ?? 0
    found.set(id, { unread: unread + before, activeAt })
    earlier.set(id, before + 1)
  }
  return placed
}

/** Statement by statement, as SQLite is fastest: it has no round trips to save. */
async function insertInTurn(tx: Tx, mail: NewMail): Promise<Placed | undefined> {
  const { message, to = [], terms, called, about } = mail
  if (terms !== undefined && (await tx.change(countUnread(to, terms))) < to.length) return undefined
  const begins = { uid: message.uid, projectId: mail.projectId, key: mail.key, nextSeq: 2, now: message.now }
  const open = message.mail === false
  const seq = mail.threadId === undefined ? 1 : await takeSeq(tx, mail.threadId, { open })
  if (seq === undefined) return undefined
  const threadId = mail.threadId ?? (await insertThread(tx, begins))
  const messageId = await insertMessage(tx, { ...message, threadId, seq })
  if (to.length > 0) insertDeliveries(tx, { ...message, messageId, to })
  if (called !== undefined) insertClientIds(tx, { ...message, to, called, bodyHash: mail.bodyHash, messageId })
  if (mail.guests?.length) insertGuests(tx, { threadId, messageId, projectIds: mail.guests })
  if (about !== undefined) insertConversation(tx, { ...about, threadId })
  for (const image of mail.images ?? []) insertInline(tx, { message_id: messageId, ...image })
  insertCarriers(tx, messageId, mail.sha1s ?? [])
  const { traceparent } = mail
  if (traceparent !== undefined) insertTrace(tx, { messageId, traceparent, now: message.now })
  return { threadId, seq, messageId }
}
