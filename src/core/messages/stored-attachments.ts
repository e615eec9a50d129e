/** The attachments of stored messages, as far as an answer has room for their content. */
import { createHash } from 'node:crypto'
import { parseDataUri } from '../../attachments/data-uri.ts'
import { limits } from '../../base/limits.ts'
import type { Reader } from '../../db/port.ts'
import { type AttachmentRow, attachmentsOf, hashIn, listInline } from '../../store/messages/attachments.ts'
import type { Attachment } from './attachments.ts'

export type { Attachment } from './attachments.ts'

interface Carrier {
  readonly id: number
  /** JSON. */
  readonly attachments: string | null
  readonly body?: string | null
}

interface Room {
  /** How many characters of inline images come along, those of the newest messages first. */
  readonly most: number
  /** Whether bodies go along: an image that stands in one is not given a second time. */
  readonly once?: boolean
}

/** By the id of the message. */
export async function listAttachments(
  db: Reader,
  rows: readonly Carrier[],
  { most, once = false }: Room,
): Promise<ReadonlyMap<number, readonly Attachment[]>> {
  const all = rows.flatMap(({ id, attachments, body }) =>
    attachments === null ? [] : [{ id, body, list: attachmentsOf(attachments) }],
  )
  const isWanted = (row: AttachmentRow) => row.type === 'inline' && !(once && row.in_body)
  const wanting = most === 0 ? [] : all.filter(({ list }) => list.some(isWanted))
  const images =
    wanting.length === 0
      ? []
      : await listInline(
          db,
          wanting.map(({ id }) => id),
          most,
        )
  const uris = new Map(images.map(({ message_id, position, data_uri }) => [`${message_id}/${position}`, data_uri]))
  return new Map(
    all.map(({ id, body, list }) => [
      id,
      list.map((row, position): Attachment => {
        if (row.type === 'link') return { kind: 'link', uri: row.uri }
        const kept = { mediaType: row.media_type, ...(row.original_path && { original: row.original_path }) }
        if (row.type === 'file') return { kind: 'file', ...kept, path: row.path, bytes: row.bytes, sha1: row.sha1 }
        const { sha1 } = row
        const dataUri = uris.get(`${id}/${position}`)
        // Of an image from before no hash is noted: none is named, because it would not be found by it.
        const inBody = row.in_body ?? (sha1 === undefined && standsIn(body, dataUri))
        return { kind: 'inline', ...kept, dataUri: once && inBody ? undefined : dataUri, sha1, inBody }
      }),
    ]),
  )
}

type Inline = Extract<Attachment, { kind: 'inline' }>

/** With what was not noted of an image when it was stored: its hash, and whether it stands in the body. */
export function identified(image: Inline, body: string | null | undefined): Inline {
  if (image.sha1 !== undefined || image.dataUri === undefined) return image
  const sha1 = createHash('sha1')
    .update(parseDataUri(image.dataUri)?.bytes ?? '')
    .digest('hex')
  return { ...image, sha1, inBody: standsIn(body, image.dataUri) }
}

const standsIn = (body: string | null | undefined, dataUri: string | undefined): boolean =>
  dataUri !== undefined && body?.includes(dataUri) === true

/** The hashes by which the content of attachments is found, each once. */
export const sha1sOf = (attachments: readonly Attachment[]): string[] => [
  ...new Set(
    attachments.flatMap((one) =>
      one.kind === 'link' ? [] : [one.sha1, one.original && hashIn(one.original)].filter((sha1) => sha1 !== undefined),
    ),
  ),
]

/** Room in a receipt, whose sender has the images and pays for every character; and in a list of a page. */
export const bareRoom: Room = { most: limits.bareInlineLength }

/** The same for a message that was just sent. */
export function inReceipt(attachments: readonly Attachment[]): readonly Attachment[] {
  const length = attachments.reduce((sum, one) => sum + (one.kind === 'inline' ? (one.dataUri ?? '').length : 0), 0)
  if (length <= limits.bareInlineLength) return attachments
  return attachments.map((one) => (one.kind === 'inline' ? { ...one, dataUri: undefined } : one))
}
