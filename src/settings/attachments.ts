/** Settings of attachments: what becomes of images, and how much a project may store. */
import { limits } from '../base/limits.ts'
import { count, flag, number, setting } from './kinds.ts'

export const attachmentSettings = {
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
