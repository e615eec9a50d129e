/** The content of what goes along with a message, for those who see the message. */
import { parseDataUri } from '../../attachments/data-uri.ts'
import { HubError } from '../../base/errors.ts'
import { findFile, findPart, listInline } from '../../store/attachments.ts'
import { findCarrier } from '../../store/thread-views.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { listAttachments } from '../messages/carried.ts'
import { type Looker, needSeen, viewOf } from './lookers.ts'

export interface Enclosed {
  readonly mediaType: string
  readonly bytes: Buffer
}

export interface EnclosureWish {
  readonly thread: string
  readonly messageId: number
  /** Its place among the attachments of the message, from 0 on. */
  readonly position: number
}

export async function readEnclosure(hub: Hub, looker: Looker, wish: EnclosureWish): Promise<Enclosed> {
  const { thread: key, messageId, position } = wish
  const { thread, eyes } = await needSeen(hub, await viewOf(hub, looker), key)
  const row = await findCarrier(reader(hub), { threadId: thread.id, eyes, messageId })
  const attachment = row && (await listAttachments(reader(hub), [row], 0)).get(row.id)?.[position]
  const missing = new HubError('NOT_FOUND', 'You can see no such attachment.')
  if (row === undefined || attachment === undefined || attachment.kind === 'link') throw missing
  const { mediaType } = attachment
  if (attachment.kind === 'inline') {
    const images = await listInline(reader(hub), [messageId], Number.MAX_SAFE_INTEGER)
    const image = images.find((one) => one.position === position)
    const data = image && parseDataUri(image.data_uri)
    if (data === undefined) throw missing
    return { mediaType, bytes: data.bytes }
  }
  const file = await findFile(reader(hub), row.project_id, attachment.path)
  if (file === undefined) throw missing
  const parts: Uint8Array[] = []
  for (let at = 0; ; at++) {
    const part = await findPart(reader(hub), file.content, at)
    if (part === undefined) return { mediaType, bytes: Buffer.concat(parts) }
    parts.push(part)
  }
}
