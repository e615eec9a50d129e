/** Attachments as several doors show them. */
import type { Attachment } from '../../core/messages/carried.ts'

/** An inline image whose content is left out is in the answer with bodies, and in resource://message. */
export function toAttachment(attachment: Attachment) {
  if (attachment.kind === 'link') return { type: 'link', uri: attachment.uri }
  const { kind: type, mediaType: media_type, original } = attachment
  const kept = original === undefined ? {} : { original_path: original }
  if (attachment.kind === 'file')
    return { type, media_type, path: attachment.path, bytes: attachment.bytes, sha1: attachment.sha1, ...kept }
  const { dataUri: data_uri } = attachment
  return { type, media_type, ...(data_uri === undefined ? { data_omitted: true } : { data_uri }), ...kept }
}
