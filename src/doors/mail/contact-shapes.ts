/** The mail door's words for contacts: links between agents, with ISO times. */
import { z } from 'zod'
import type { Contact } from '../../core/contacts/links.ts'
import { iso, isoOrNull } from '../words/times.ts'

/** Says little, because several tools carry it in their schemas. */
export const linkShape = z.looseObject({ from: z.string(), to: z.string(), status: z.string() })

export const toLink = ({ id, from, to, status, reason, createdAt, updatedAt, expiresAt }: Contact) => ({
  id,
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
