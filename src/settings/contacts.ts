/** Settings of contacts: whether the rule is enforced, and when contact is made automatically. */
import { flag, seconds, setting } from './kinds.ts'

export const contactSettings = {
  CONTACT_ENFORCEMENT_ENABLED: setting({
    default: 'true',
    says: 'Whether contact policies are asked before a message is delivered.',
    parse: flag,
  }),
  CONTACT_AUTO_TTL_SECONDS: setting({
    default: '86400',
    says: 'How long a contact lasts that was made by itself, and how long a message counts as recent contact.',
    parse: seconds,
  }),
  CONTACT_AUTO_RETRY_ENABLED: setting({
    default: 'true',
    says: 'Whether a send that had to make contact first goes on in the same call.',
    parse: flag,
  }),
  MESSAGING_AUTO_HANDSHAKE_ON_BLOCK: setting({
    default: 'true',
    says: 'Whether contact is made by itself where a policy wants it first; `contacts_only` and `block_all` still hold.',
    parse: flag,
  }),
} as const
