/** The attachments of stored messages, as far as an answer has room for their content. */
import { limits } from '../../base/limits.ts'
import type { Reader } from '../../db/port.ts'
import { attachmentsOf, listInline } from '../../store/attachments.ts'
import type { Attachment } from './attachments.ts'

export type { Attachment } from './attachments.ts'

interface Carrier {
  readonly id: number
  /** JSON. */
  readonly attachments: string | null
}

/** By the id of the message. `most` is how many characters of inline images come along, those of the newest first. */
export async function listAttachments(
  db: Reader,
  rows: readonly Carrier[],
  most: number = limits.bareInlineLength,
): Promise<ReadonlyMap<number, readonly Attachment[]>> {
  const all = new Map(
    rows.flatMap(({ id, attachments }) => (attachments === null ? [] : [[id, attachmentsOf(attachments)] as const])),
  )
  const inline = [...all].filter(([, list]) => list.some(({ type }) => type === 'inline')).map(([id]) => id)
  const images = inline.length === 0 ? [] : await listInline(db, inline, most)
  const uris = new Map(images.map(({ message_id, position, data_uri }) => [`${message_id}/${position}`, data_uri]))
  return new Map(
    [...all].map(([id, list]) => [
      id,
      list.map((row, position): Attachment => {
        if (row.type === 'link') return { kind: 'link', uri: row.uri }
        const kept = { mediaType: row.media_type, original: row.original_path }
        if (row.type === 'inline') return { kind: 'inline', ...kept, dataUri: uris.get(`${id}/${position}`) }
        return { kind: 'file', ...kept, path: row.path, bytes: row.bytes, sha1: row.sha1 }
      }),
    ]),
  )
}

/** The same for a message that was just sent: its sender has the images, and pays for every character. */
export function inReceipt(attachments: readonly Attachment[]): readonly Attachment[] {
  const length = attachments.reduce((sum, one) => sum + (one.kind === 'inline' ? (one.dataUri ?? '').length : 0), 0)
  if (length <= limits.bareInlineLength) return attachments
  return attachments.map((one) => (one.kind === 'inline' ? { ...one, dataUri: undefined } : one))
}
