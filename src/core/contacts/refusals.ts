/** Refusals of a message, each with a hint at the next step. */
import type { Agent } from '../agents/agents.ts'
import type { Refusal } from './judging.ts'

export const blocksAll = ({ name }: Agent): Refusal => ({
  code: 'CONTACT_BLOCKED',
  message: `${name} takes no messages: its contact policy is block_all.`,
  hint: `Nothing reaches ${name}, nor does a contact request. Write to somebody else.`,
})

export const declined = ({ name }: Agent, sender: Agent): Refusal => ({
  code: 'CONTACT_BLOCKED',
  message: `${name} has declined contact with ${sender.name}.`,
  hint: `Do not ask again. ${name} can still change its mind and accept.`,
})

/** Towards `auto`, without automatic contact. */
export const contactFirst = ({ name }: Agent): Refusal => ({
  code: 'CONTACT_REQUIRED',
  reason: 'contact_first',
  message: `${name} wants contact first: you share no thread, reservation, or recent message.`,
  hint: `Ask ${name} for contact, and send again.`,
})

/** Towards `auto`, after automatic contact, where the send does not go on by itself. */
export const contactMade = ({ name }: Agent): Refusal => ({
  code: 'CONTACT_REQUIRED',
  message: `${name} wanted contact first. Contact is made now; the message was not delivered.`,
  hint: 'Send the same message again: it will be delivered.',
})

const contactsOnly = (name: string, abroad: boolean): string =>
  `${name} ${abroad ? 'is in another project and ' : ''}takes messages from its contacts only`

export const onlyContacts = ({ name }: Agent, { waiting, abroad }: { waiting: boolean; abroad: boolean }): Refusal => ({
  code: 'CONTACT_REQUIRED',
  message: `${contactsOnly(name, abroad)}${waiting ? ', and has not answered your request yet' : ''}.`,
  ...(waiting
    ? { reason: 'contact_asked', hint: `Send again once ${name} has accepted.` }
    : { reason: 'contact_only', hint: `Ask ${name} for contact, and send again once it has accepted.` }),
})

export const requestFiled = ({ name }: Agent, abroad: boolean): Refusal => ({
  code: 'CONTACT_REQUIRED',
  reason: 'contact_asked',
  message: `${contactsOnly(name, abroad)}. A contact request is filed and waits for its answer.`,
  hint: `Send again once ${name} has accepted.`,
})
