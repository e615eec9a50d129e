/** The content of what goes along with a message, for those who see the message. */
import { parseDataUri } from '../../attachments/data-uri.ts'
import { HubError } from '../../base/errors.ts'
import {
  type CarrierRow,
  findFile,
  findPart,
  hashIn,
  listCarriersOf,
  listInline,
} from '../../store/messages/attachments.ts'
import { findCarrier } from '../../store/threads/hub-threads.ts'
import type { Caller } from '../access/callers.ts'
import { toolSight } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { listAttachments } from '../messages/stored-attachments.ts'
import { needProject } from '../projects/projects.ts'
import { type HubCaller, hubReaderOf, needSeen } from './hub-readers.ts'

export interface Enclosed {
  readonly mediaType: string
  readonly bytes: Buffer
}

interface EnclosureWish {
  readonly thread: string
  readonly messageId: number
  /** Its place among the attachments of the message, from 0 on. */
  readonly position: number
}

export async function readEnclosure(hub: Hub, hubCaller: HubCaller, wish: EnclosureWish): Promise<Enclosed> {
  const { thread: key, messageId, position } = wish
  const { thread, sight } = await needSeen(hub, await hubReaderOf(hub, hubCaller), key)
  const row = await findCarrier(reader(hub), { threadId: thread.id, sight, messageId })
  const attachment = row && (await listAttachments(reader(hub), [row], { most: 0 })).get(row.id)?.[position]
  const missing = new HubError('NOT_FOUND', 'You can see no such attachment.')
  if (row === undefined || attachment === undefined || attachment.kind === 'link') throw missing
  const content =
    attachment.kind === 'inline'
      ? await findImage(hub, messageId, position)
      : await findStored(hub, row.project_id, attachment.path)
  if (content === undefined) throw missing
  return content
}

interface HashWish {
  /** The SHA-1 of the content, as answers and archives name it. */
  readonly sha1: string
  /** The slug or key of the project whose mail is looked at; that of all, if left out. */
  readonly project?: string | undefined
}

/** Each project stores a file of its own: where that of one message is lost, the next may have it. */
const mostTried = 5

/** The attachment with this hash, if a message in sight carries it. A guessed hash tells nothing. */
export async function readByHash(hub: Hub, caller: Caller, { sha1, project }: HashWish): Promise<Enclosed> {
  const home = project === undefined ? undefined : await needProject(hub, caller, project)
  const sight = toolSight(caller)
  const rows = await listCarriersOf(reader(hub), { sha1, sight, projectId: home?.id, limit: mostTried })
  for (const row of rows) {
    const content = await findHashed(hub, row, sha1)
    if (content !== undefined) return content
  }
  throw new HubError('NOT_FOUND', `You can see no attachment ${sha1}.`, {
    hint: 'Take its sha1 from the attachments of its message. Check project, or leave it out.',
  })
}

async function findHashed(hub: Hub, row: CarrierRow, sha1: string): Promise<Enclosed | undefined> {
  const list = (await listAttachments(reader(hub), [row], { most: 0 })).get(row.id) ?? []
  for (const [position, one] of list.entries()) {
    if (one.kind === 'link') continue
    if (one.sha1 === sha1)
      return one.kind === 'inline' ? findImage(hub, row.id, position) : findStored(hub, row.project_id, one.path)
    if (one.original !== undefined && hashIn(one.original) === sha1)
      return findStored(hub, row.project_id, one.original)
  }
  return undefined
}

async function findImage(hub: Hub, messageId: number, position: number): Promise<Enclosed | undefined> {
  const images = await listInline(reader(hub), [messageId], Number.MAX_SAFE_INTEGER)
  const image = images.find((one) => one.position === position)
  return image && parseDataUri(image.data_uri)
}

async function findStored(hub: Hub, projectId: number, path: string): Promise<Enclosed | undefined> {
  const file = await findFile(reader(hub), projectId, path)
  if (file === undefined) return undefined
  const parts: Uint8Array[] = []
  for (let at = 0; ; at++) {
    const part = await findPart(reader(hub), file.content, at)
    if (part === undefined) return { mediaType: file.media_type, bytes: Buffer.concat(parts) }
    parts.push(part)
  }
}
