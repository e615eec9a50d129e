/** Settings of inboxes: how much one may hold. */
import { count, flag, number, setting } from './kinds.ts'

export const inboxSettings = {
  MAILBOX_MAX_DEPTH: setting({
    default: '10000',
    says: 'How many unread messages an agent may have; the next one is refused with MAILBOX_FULL.',
    parse: number({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  }),
  QUOTA_ENABLED: setting({
    default: 'false',
    says: 'Whether the quota below is enforced.',
    parse: flag,
  }),
  QUOTA_INBOX_LIMIT_COUNT: setting({
    default: '0',
    says: 'How many messages, read or not, an inbox may hold; the next is refused with QUOTA_EXCEEDED. 0 is any number.',
    parse: count,
  }),
} as const
