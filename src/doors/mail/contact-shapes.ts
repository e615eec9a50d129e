/** Contacts as the mail door shows them: links between agents, with their ids. */
import { z } from 'zod'
import type { Contact } from '../../core/contacts/links.ts'
import { toContact } from '../words/contacts.ts'

/** Says little, because several tools carry it in their schemas. */
export const linkShape = z.looseObject({ from: z.string(), to: z.string(), status: z.string() })

export const toLink = (contact: Contact) => ({ id: contact.id, ...toContact(contact) })
