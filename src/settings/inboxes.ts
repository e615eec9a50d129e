/** Settings of inboxes: how much one may hold. */
import { count, flag, number, setting } from './kinds.ts'

export const inboxSettings = {
  MAILBOX_MAX_DEPTH: setting({
    default: '10000',
    says: 'Most unread messages that an agent may have; the next one is refused with MAILBOX_FULL.',
    parse: number({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  }),
  QUOTA_ENABLED: setting({
    default: 'false',
    says: 'Whether QUOTA_INBOX_LIMIT_COUNT and QUOTA_ATTACHMENTS_LIMIT_BYTES are enforced when a message is sent.',
    parse: flag,
  }),
  QUOTA_INBOX_LIMIT_COUNT: setting({
    default: '0',
    says: 'Most messages, read or unread, that an inbox may hold while QUOTA_ENABLED is true; the next one is refused with QUOTA_EXCEEDED. 0 means no limit.',
    parse: count,
  }),
} as const
