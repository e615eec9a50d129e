/** Settings of attachments: what becomes of images, and how much a project may store. */
import { limits } from '../base/limits.ts'
import { count, flag, folders, number, setting } from './kinds.ts'

export const attachmentSettings = {
  ATTACHMENT_ROOTS: setting({
    default: '',
    says: 'Folders, separated by commas, in which files of a project may be attached to mail though the project is no git repository. All folders in them count too, but never `/`, a home folder itself or a system folder.',
    parse: folders,
  }),
  ATTACHMENT_HIDDEN: setting({
    default: 'false',
    says: 'Whether hidden files, files of a project in a hidden folder, private keys and files that git ignores may be attached to mail by their path.',
    parse: flag,
  }),
  CONVERT_IMAGES: setting({
    default: 'true',
    says: 'Whether images of a message become WebP where the message does not say. An image that is not converted is stored as it is.',
    parse: flag,
  }),
  INLINE_IMAGE_MAX_BYTES: setting({
    default: '65536',
    says: 'Bytes from which a converted image is stored as a file; smaller ones stand in the message itself, as data URIs. 0 stores all as files.',
    parse: number({ min: 0, max: limits.inlineImageBytes }),
  }),
  KEEP_ORIGINAL_IMAGES: setting({
    default: 'false',
    says: 'Whether an image is also stored as it was before it became WebP, in `attachments/originals/`.',
    parse: flag,
  }),
  QUOTA_ATTACHMENTS_LIMIT_BYTES: setting({
    default: '0',
    says: 'Most bytes of attachments that a project may store while QUOTA_ENABLED is true; a message with more is refused with QUOTA_EXCEEDED. 0 means no limit.',
    parse: count,
  }),
} as const
