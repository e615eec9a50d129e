/** Trust: who the sender of a message is to its reader. */
import { isReserved } from '../../base/names.ts'

/**
 *   person    somebody who watches over the agents
 *   contact   an agent that the reader asked for contact, or that asked the reader, and was accepted; automatic contact is none
 *   project   another agent of the reader's project
 *   stranger  anybody else
 */
export type Trust = 'person' | 'contact' | 'project' | 'stranger'

interface SenderFacts {
  readonly sender: string
  readonly sender_project: number
  /** 1 if it is a contact of the reader; the query that found the message has looked. */
  readonly contact: number | boolean
}

export function trustOf({ sender, sender_project, contact }: SenderFacts, home: number): Trust {
  if (isReserved(sender)) return 'person'
  if (contact === true || contact === 1) return 'contact'
  return sender_project === home ? 'project' : 'stranger'
}
