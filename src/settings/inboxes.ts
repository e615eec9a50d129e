/** Settings of inboxes: how much one may hold. */
import { count, flag, number } from './kinds.ts'

export const inboxSettings = {
  MAILBOX_MAX_DEPTH: number(10000, { min: 1, max: Number.MAX_SAFE_INTEGER }).says(
    'Most unread messages that an agent may have; the next one is refused with MAILBOX_FULL.',
  ),
  QUOTA_ENABLED: flag(false).says(
    'Whether QUOTA_INBOX_LIMIT_COUNT and QUOTA_ATTACHMENTS_LIMIT_BYTES are enforced when a message is sent.',
  ),
  QUOTA_INBOX_LIMIT_COUNT: count(0).says(
    'Most messages, read or unread, that an inbox may hold while QUOTA_ENABLED is true; the next one is refused with QUOTA_EXCEEDED. 0 means no limit.',
  ),
}
