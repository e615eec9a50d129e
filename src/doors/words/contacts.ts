/** Contacts in the words of mail, as tools and pages say them. */
import type { Contact } from '../../core/contacts/links.ts'
import { iso, isoOrNull } from './times.ts'

export const toContact = ({ from, to, status, reason, createdAt, updatedAt, expiresAt }: Contact) => ({
  from: from.name,
  from_project: from.project,
  to: to.name,
  to_project: to.project,
  status,
  reason,
  created_ts: iso(createdAt),
  updated_ts: iso(updatedAt),
  expires_ts: isoOrNull(expiresAt),
})
