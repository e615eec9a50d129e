/** Attachments as several doors show them, and their content. */
import { isUtf8 } from 'node:buffer'
import { limits } from '../../base/limits.ts'
import type { Attachment } from '../../core/messages/stored-attachments.ts'
import type { Enclosed } from '../../core/threads/attachments.ts'
import { partOf } from '../../core/threads/hub-threads.ts'
import { RawContent } from '../mcp/table.ts'

/** An inline image whose content is left out stands in the body, or is read by its hash. */
export function toAttachment(attachment: Attachment) {
  if (attachment.kind === 'link') return { type: 'link', uri: attachment.uri }
  const { kind: type, mediaType: media_type, original } = attachment
  const kept = original === undefined ? {} : { original_path: original }
  if (attachment.kind === 'file')
    return { type, media_type, path: attachment.path, bytes: attachment.bytes, sha1: attachment.sha1, ...kept }
  const { dataUri: data_uri, sha1 } = attachment
  const content = data_uri === undefined ? { data_omitted: true } : { data_uri }
  return { type, media_type, ...(sha1 !== undefined && { sha1 }), ...content, ...kept }
}

/** Text is shown as text where it is valid. What is long comes in parts: text by characters, else by bytes (mail.attach.parts). */
export function toContent({ mediaType, bytes }: Enclosed, offset: number): RawContent {
  const textual = /^text\/|[/+](?:json|xml|yaml|javascript)$/.test(mediaType)
  if (textual && isUtf8(bytes)) {
    const { text, nextOffset } = partOf(bytes.toString('utf8'), offset)
    return toPart(mediaType, text, nextOffset)
  }
  const end = offset + limits.bytesPart
  return toPart(mediaType, bytes.subarray(offset, end), end < bytes.length ? end : undefined)
}

const toPart = (mediaType: string, part: string | Buffer, nextOffset: number | undefined): RawContent =>
  new RawContent(mediaType, part, nextOffset === undefined ? undefined : { next_offset: nextOffset })
