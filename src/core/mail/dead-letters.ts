/** Mail that was lent and came back too often: it is dead, so that it stops nobody's mailbox, and its sender is told once. */
import { listWorn, listWornOf } from '../../store/mail/endings.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { endUnread } from './ending.ts'

/** Takes such mail out of an agent's mailbox. With 0 no mail ever dies, and nothing is asked. */
export async function buryWorn(hub: Hub, { id: recipientId }: Agent, attempts: number): Promise<void> {
  if (attempts === 0) return
  const worn = { recipientId, attempts }
  for (const messageId of await listWorn(reader(hub), { ...worn, now: hub.clock.now() }))
    await endUnread(hub, messageId, {
      how: 'dead',
      list: (tx, now) => listWornOf(tx, messageId, { ...worn, now }),
      notice: ({ message, to }) => ({
        subject: 'Not handled',
        body: `Your ${message}${to} was handed out ${attempts} times and never confirmed. It is a dead letter now: stored, and handed out no more. A person can retry it (\`parley dead-letters\`).`,
      }),
    })
}
