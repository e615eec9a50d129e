/** Settings of attachments: what becomes of images, and how much a project may store. */
import { limits } from '../base/limits.ts'
import { count, flag, folder, list, number } from './kinds.ts'

export const attachmentSettings = {
  ATTACHMENT_ROOTS: list('', folder).says(
    'Folders, separated by commas, whose files may be attached to mail although the project there is not a git repository. Folders in them count too, but never `/`, a home folder itself or a system folder.',
  ),
  ATTACHMENT_HIDDEN: flag(false).says(
    'Whether hidden files, files of a project in a hidden folder, private keys and files that git ignores may be attached to mail by their path.',
  ),
  CONVERT_IMAGES: flag(true).says(
    'Whether images of a message are converted to WebP when the message does not say. An image that is not converted is stored as it is.',
  ),
  INLINE_IMAGE_MAX_BYTES: number(65536, { min: 0, max: limits.attachmentBytes }).says(
    'Bytes from which a converted image is stored as a file; smaller images stay in the message itself, as data URIs, as far as it has room for them. 0 stores all of them as files.',
  ),
  KEEP_ORIGINAL_IMAGES: flag(false).says(
    'Whether the original of an image that was converted to WebP is stored too, in `attachments/originals/`.',
  ),
  QUOTA_ATTACHMENTS_LIMIT_BYTES: count(0).says(
    'Most bytes of attachments that a project may store while QUOTA_ENABLED is true; a message that would exceed it is refused with QUOTA_EXCEEDED. 0 means no limit.',
  ),
}
