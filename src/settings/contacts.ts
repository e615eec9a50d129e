/** Settings of contacts: whether the rule is enforced, and when contact is made automatically. */
import { flag, seconds } from './kinds.ts'

export const contactSettings = {
  CONTACT_ENFORCEMENT_ENABLED: flag(true).says(
    'Whether the contact policy of each recipient is checked before a message is delivered.',
  ),
  CONTACT_AUTO_TTL_SECONDS: seconds(86400).says(
    'Seconds for which an automatic contact lasts, and for which a message counts as recent contact.',
  ),
  CONTACT_AUTO_RETRY_ENABLED: flag(true).says(
    'Whether a message that made an automatic contact is delivered by the same call; otherwise the call is refused, and the sender sends again.',
  ),
  MESSAGING_AUTO_HANDSHAKE_ON_BLOCK: flag(true).says(
    'Whether a message to a stranger makes an automatic contact under the policy `auto`, and files a contact request under `contacts_only`; `block_all` refuses it in any case.',
  ),
}
