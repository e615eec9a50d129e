/** Promises about contacts: who may write to whom. */
import type { Requirement } from '../requirements.ts'

// biome-ignore format: a table, one promise a line
export const contacts = [
  { id: 'mail.contact.order', spec: 'DECISIONS mail 5', says: 'block_all refuses, open takes all, an approved contact passes, contacts_only refuses all others.' },
  { id: 'mail.contact.block-all', spec: 'DECISIONS mail 5', says: 'Nothing reaches an agent with block_all: no reply, copy, contact, thread or request.' },
  { id: 'mail.contact.both-ways', spec: 'DECISIONS mail 5', says: 'An approved contact holds both ways until it expires, or one of the two denies it.' },
  { id: 'mail.contact.same-thread', spec: 'DECISIONS mail 5', says: 'Towards auto agents pass that share the thread; naming its key makes nobody share it.' },
  { id: 'mail.contact.leases', spec: 'DECISIONS mail 5', says: 'Towards auto agents pass that hold overlapping leases while both are active.' },
  { id: 'mail.contact.recent', spec: 'DECISIONS mail 5', says: 'Towards auto agents pass that have exchanged mail within CONTACT_AUTO_TTL_SECONDS.' },
  { id: 'mail.contact.answer', spec: 'DECISIONS mail 5', says: 'A recipient may answer in that thread, however it was addressed, but not block_all.' },
  { id: 'mail.contact.handshake', spec: 'DECISIONS mail 5', says: 'Towards auto contact is made automatically and the send goes on, or says that it must be repeated.' },
  { id: 'mail.contact.handshake-off', spec: 'mail.md Configuration', says: 'Without a handshake, by setting or by argument, auto refuses strangers and nothing is filed.' },
  { id: 'mail.contact.asked-only', spec: 'DECISIONS mail 5', says: 'contacts_only takes mail from contacts that were asked for and approved, not from those that auto made.' },
  { id: 'mail.contact.filed', spec: 'DECISIONS mail 18', says: 'Towards contacts_only a refused send files a request, with at most one message a day, and says so.' },
  { id: 'mail.contact.confirmed', spec: 'DECISIONS mail 18', says: 'Answering a contact request acknowledges the message about it.' },
  { id: 'mail.contact.border', spec: 'DECISIONS mail 19', says: 'Across projects only contact, a shared thread or open passes; else a request is filed, never made contact.' },
  { id: 'mail.contact.partial', spec: 'DECISIONS mail 5', says: 'One blocked recipient does not stop the others; if all are blocked, nothing is sent.' },
  { id: 'mail.contact.every-door', spec: 'DECISIONS all 12', says: 'Contact policies bind the mailbox door as they bind the mail door.' },
  { id: 'mail.contact.unenforced', spec: 'mail.md Configuration', says: 'With CONTACT_ENFORCEMENT_ENABLED off no policy is asked.' },
  { id: 'mail.contact.request', spec: 'mail.md Contact model', says: 'A request is pending until it is answered or ends, and puts a message into the inbox once.' },
  { id: 'mail.contact.respond', spec: 'mail.md Contact model', says: 'The asked agent accepts or denies, for a time if it likes, and may change its mind.' },
  { id: 'mail.contact.denied', spec: 'mail.md Contact model', says: 'A denied agent is refused, cannot ask again, and gets through by no handshake.' },
  { id: 'mail.contact.list', spec: 'mail.md Contact model', says: 'list_contacts shows links both ways, with the other, its project, status and end.' },
  { id: 'mail.contact.elsewhere', spec: 'DECISIONS mail 5', says: 'A plain name may be the one approved contact of that name in another project.' },
  { id: 'mail.contact.policy', spec: 'mail.md API', says: 'set_contact_policy holds from the next message on, and answers with the profile.' },
  { id: 'mail.contact.one-row', spec: 'DESIGN Two engines', says: 'Handshakes and requests that race each other leave one link and one message.' },
  { id: 'mail.contact.lasting', spec: 'mail.md Request/approve contact', says: 'Automatic contact can be made to last by a request and its acceptance.' },
] as const satisfies readonly Requirement[]
