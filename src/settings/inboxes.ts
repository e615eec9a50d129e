/** Settings of inboxes: how much one may hold. */
import { count, flag, number } from './kinds.ts'

export const inboxSettings = {
  MAILBOX_MAX_DEPTH: number(10000, { min: 1, max: Number.MAX_SAFE_INTEGER }).says(
    'Most unread messages that an agent may have; the next one is refused with MAILBOX_FULL.',
  ),
  MAILBOX_MAX_ATTEMPTS: count(0).says(
    'Most times that check_mail hands out a message with a lease; not confirmed by then, it is a dead letter (`parley dead-letters`). 0 means no limit; `parley run` then takes 5.',
  ),
  BROADCAST_MAX: number(200, { min: 1, max: 1000 }).says(
    'Most agents that one message to a group (`all:project`, `role:reviewer`) may go to.',
  ),
  QUOTA_ENABLED: flag(false).says(
    'Whether QUOTA_INBOX_LIMIT_COUNT and QUOTA_ATTACHMENTS_LIMIT_BYTES are enforced when a message is sent.',
  ),
  QUOTA_INBOX_LIMIT_COUNT: count(0).says(
    'Most messages, read or unread, that an inbox may hold while QUOTA_ENABLED is true; the next one is refused with QUOTA_EXCEEDED. 0 means no limit.',
  ),
}
