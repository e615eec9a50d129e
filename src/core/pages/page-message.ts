/** A message as the pages show it: with everybody it went to, and without its content where the reader may not have it. */
import { isReserved } from '../../base/names.ts'
import { ownWords, preamble } from '../../base/preamble.ts'
import { firstLine } from '../../base/text.ts'
import {
  listPageMessageRows,
  listPageRecipientRows,
  type PageMessageRow,
  type PageRecipientRow,
} from '../../store/pages/page-messages.ts'
import { isReadable, type MessageFacts, type Sight } from '../../store/visibility.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Importance } from '../messages/send.ts'
import { type Attachment, bareRoom, listAttachments } from '../messages/stored-attachments.ts'
import { slugOfProject } from '../projects/projects.ts'

/** An agent, with the slug of its project. */
export interface Who {
  readonly name: string
  readonly project: string
}

export interface PageMessage {
  readonly id: number
  /** The slug of the project of its thread. */
  readonly project: string
  /** The name of its thread; undefined while it is the only message of a thread without a key. */
  readonly thread: string | undefined
  readonly threadId: number
  /** The name of the topic that it was said in. */
  readonly topic: string | undefined
  /** Its sender's word for it in a topic, as question, answer or event; undefined for a plain message. */
  readonly messageType: string | undefined
  readonly from: Who
  readonly to: readonly Who[]
  readonly cc: readonly Who[]
  /** Empty unless the reader may see blind copies. */
  readonly bcc: readonly Who[]
  readonly subject: string
  /** The beginning of the words that its sender wrote. */
  readonly excerpt: string
  readonly importance: Importance
  readonly ackRequired: boolean
  readonly createdAt: number
  /** How many recipients the reader may know of, and how many of them have not read it. */
  readonly recipients: number
  readonly unread: number
  readonly attachments: readonly Attachment[]
  /** Whether all of its parties hold keys and the reader holds none: subject, text and attachments are left out. */
  readonly sealed: boolean
  /** Whether a person sent it. */
  readonly overseer: boolean
  /** The name of that person, if it has one. */
  readonly author: string | undefined
}

/** One page of a list, and the id to go on below. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: number | undefined
}

/** The rows behind messages, without the content of sealed ones, for verbs that tell more of them. */
export interface MessageWithRows {
  readonly message: PageMessage
  readonly row: PageMessageRow
  readonly recipients: readonly PageRecipientRow[]
}

/** The subject that people write about where they may not read the true one. */
export const sealedMail = 'sealed mail'

const excerptLength = 240
/** A preamble before them is read, and left out. */
const readLength = excerptLength + preamble.length

/** The messages in sight, in the order of `ids`. */
export async function listWithRows(
  hub: Hub,
  sight: Sight,
  ids: readonly number[],
  { length = readLength }: { length?: number } = {},
): Promise<MessageWithRows[]> {
  if (ids.length === 0) return []
  const db = reader(hub)
  const rows = new Map((await listPageMessageRows(db, ids, { sight, length })).map((row) => [row.id, row]))
  const recipients = Map.groupBy(await listPageRecipientRows(db, [...rows.keys()], sight), (row) => row.message_id)
  const attachments = await listAttachments(db, [...rows.values()], bareRoom)
  const slugs = await slugsOf(hub, [
    ...[...rows.values()].flatMap(({ project_id, sender_project }) => [project_id, sender_project]),
    ...[...recipients.values()].flatMap((list) => list.map(({ project_id }) => project_id)),
  ])
  return ids.flatMap((id) => {
    const found = rows.get(id)
    if (found === undefined) return []
    const to = recipients.get(id) ?? []
    const sealed = !isReadable(sight, factsOf(found, to))
    const row = sealed ? { ...found, ...sealedContent } : found
    const carried = sealed ? [] : (attachments.get(id) ?? [])
    return [{ message: toPageMessage(row, { to, sealed, slugs, attachments: carried }), row, recipients: to }]
  })
}

/** Taken out here, where every page reads: none of them can show what it does not have. */
const sealedContent = { subject: '', body: '', body_length: 0, attachments: null }

/** Each project is asked for once: of hundreds of rows most share theirs. */
export async function slugsOf(hub: Hub, ids: Iterable<number>): Promise<ReadonlyMap<number, string>> {
  const slugs = new Map<number, string>()
  for (const id of new Set(ids)) slugs.set(id, await slugOfProject(hub, id))
  return slugs
}

export const listPageMessages = async (hub: Hub, sight: Sight, ids: readonly number[]): Promise<PageMessage[]> =>
  (await listWithRows(hub, sight, ids)).map(({ message }) => message)

const factsOf = (row: PageMessageRow, to: readonly PageRecipientRow[]): MessageFacts => ({
  topic: row.topic !== null,
  projectId: row.project_id,
  sender: { id: row.sender_id, keyed: row.sender_keyed === 1 },
  recipients: to.map(({ id, kind, keyed }) => ({ id, kind, keyed: keyed === 1 })),
})

interface Telling {
  readonly to: readonly PageRecipientRow[]
  readonly sealed: boolean
  readonly slugs: ReadonlyMap<number, string>
  readonly attachments: readonly Attachment[]
}

function toPageMessage(row: PageMessageRow, { to, sealed, slugs, attachments }: Telling): PageMessage {
  const who = (name: string, project: number): Who => ({ name, project: slugs.get(project) ?? '' })
  const of = (kind: string): Who[] =>
    to.filter((one) => one.kind === kind).map(({ name, project_id }) => who(name, project_id))
  return {
    id: row.id,
    project: slugs.get(row.project_id) ?? '',
    thread: row.thread_key ?? undefined,
    threadId: row.thread_id,
    topic: row.topic ?? undefined,
    messageType: row.topic === null || row.kind === 'message' ? undefined : row.kind,
    from: who(row.sender, row.sender_project),
    to: of('to'),
    cc: of('cc'),
    bcc: of('bcc'),
    subject: firstLine(row.subject),
    excerpt: ownWords(row.sender, row.body).slice(0, excerptLength),
    importance: row.importance,
    ackRequired: row.ack_required === 1,
    createdAt: row.created_at,
    recipients: to.length,
    unread: to.filter(({ read_at, ended }) => read_at === null && ended === null).length,
    attachments,
    sealed,
    overseer: isReserved(row.sender),
    author: row.author ?? undefined,
  }
}

/** Of one more than the limit the last tells that there are more. */
export function pageOf<Item>(found: readonly Item[], limit: number, idOf: (item: Item) => number): Page<Item> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? idOf(last) : undefined }
}
