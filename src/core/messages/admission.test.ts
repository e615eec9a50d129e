/** The statement that lets a message through at once says yes only where the contact rule would, whatever links there are. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { insertAgent } from '../../store/agents/agents.ts'
import { type ContactRow, insertContact } from '../../store/contacts/contacts.ts'
import { countUnread } from '../../store/messages/admission.ts'
import { endOf, linkBetween } from '../contacts/standing.ts'
import { commit, itself } from '../hub/commit.ts'
import { findTerms } from './admission.ts'

const statuses = ['pending', 'approved', 'denied'] as const
/** In hours from now: just past, about to be renewed, far, never. */
const ends = [0, 1, 1000, undefined]
const origins = ['asked', 'automatic'] as const
const links = [
  undefined,
  ...statuses.flatMap((status) => ends.flatMap((end) => origins.map((origin) => ({ status, end, origin })))),
]

eachEngine('Admission at once', (open) => {
  verifies(
    ['mail.contact.both-ways', 'mail.contact.asked-only'],
    'agrees with the links of two agents, for one recipient and among several',
    async () => {
      const clock = new TestClock()
      const hub = await openTestHub(await (await open()).connect(), { clock })
      const now = clock.now()
      await commit(hub, itself, async (tx) => {
        let number = 0
        const agent = async (policy: string) => {
          const name = `agent${++number}`
          const { id } = await insertAgent(tx, { projectId: 1, name, nameKey: name, policy, activeAt: now, now })
          return { id, projectId: 1, name }
        }
        const link = async (
          fromId: number,
          toId: number,
          { status, end, origin }: NonNullable<(typeof links)[number]>,
        ) =>
          insertContact(tx, {
            fromId,
            toId,
            status,
            origin,
            reason: '',
            now,
            expiresAt: end === undefined ? undefined : now + end * 3_600_000,
          })
        const anybody = await agent('open')
        // One agent for each link that it may have to others: the pairs of two such lists have them all.
        const senders = await eachOf(links, async (there) => ({ ...(await agent('auto')), there }))
        for (const policy of ['auto', 'contacts_only'])
          for (const { back, ...other } of await eachOf(links, async (back) => ({ ...(await agent(policy)), back })))
            for (const { there, ...sender } of senders) {
              const own = there && (await link(sender.id, other.id, there))
              const theirs = back && (await link(other.id, sender.id, back))
              const recipients = [{ agent: other, kind: 'to' as const }]
              const terms = findTerms(hub, { sender, recipients, exempt: false })
              const contact = terms?.open?.contact
              if (terms === undefined || contact === undefined) throw new Error('Policies are asked here.')
              const found = linkBetween(sender, [own, theirs], { now, policy })
              const welcome = found?.standing === 'approved' && endOf(found) > contact.until && !denied(own)
              const what = `${policy}: ${JSON.stringify(there)} and back ${JSON.stringify(back)}`
              expect(await tx.change(countUnread([other], terms)), what).toBe(welcome ? 1 : 0)
              expect(await tx.change(countUnread([anybody, other], terms)), what).toBe(welcome ? 2 : 0)
            }
      })
    },
  )
})

/** One that has ended, too, is left to the rule itself. */
const denied = (row: ContactRow | undefined): boolean => row?.status === 'denied'

async function eachOf<One, Made>(list: readonly One[], make: (one: One) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = []
  for (const one of list) made.push(await make(one))
  return made
}
