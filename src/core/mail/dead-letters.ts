/** Mail that was lent and came back too often: it is dead, so that it stops nobody's mailbox, and its sender is told once. */
import { listWorn, listWornOf } from '../../store/mail/endings.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { endUnread } from './ending.ts'

/** Where no other number is set, mail of a run or of a role is dead after so many. */
export const attemptsOf = (hub: Hub): number => hub.limits.mailboxAttempts || 5

interface Worn {
  readonly recipientId: number
  readonly attempts: number
}

/** Takes such mail out of an agent's mailbox. With 0 no mail ever dies, and nothing is asked. */
export async function buryWorn(hub: Hub, { id: recipientId }: Agent, attempts: number): Promise<void> {
  if (attempts === 0) return
  const worn = { recipientId, attempts }
  for (const messageId of await listWorn(reader(hub), { ...worn, now: hub.clock.now() }))
    await bury(hub, messageId, worn)
}

/** The same for one message. */
export const bury = (hub: Hub, messageId: number, worn: Worn): Promise<boolean> =>
  endUnread(hub, messageId, {
    how: 'dead',
    list: (tx, now) => listWornOf(tx, messageId, { ...worn, now }),
    notice: ({ message, to }) => ({
      subject: 'Not handled',
      body: `Your ${message}${to} was handed out ${worn.attempts} times and never confirmed. It is a dead letter now: stored, and handed out no more. A person can retry it (\`parley dead-letters\`).`,
    }),
  })
