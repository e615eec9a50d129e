/** A message says who its sender is to the agent that reads it, wherever it is read. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { overseer } from '../../base/names.ts'
import { local, operator } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { requestContact, respondContact } from '../contact-requests/requests.ts'
import { listInbox } from '../mail/inbox.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { viewThread } from './hub-threads.ts'

const elsewhere = '/srv/elsewhere'
const bob = { name: 'bob' }

eachEngine('Trust', (open) => {
  verifies('all.trust.told', 'a person, a contact that was asked for, one of the project, a stranger', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    await ensureAgent(hub, local, { project: 'commons', name: 'bob', policy: 'open' })
    for (const name of ['eve', 'friend']) await ensureAgent(hub, local, { project: elsewhere, name, policy: 'auto' })
    await ensureAgent(hub, local, { project: 'commons', name: 'ann', policy: 'auto' })
    const there = { name: 'bob', project: 'commons' }
    await requestContact(hub, as('friend', elsewhere), { to: there, reason: 'one product', ttlMs: 60_000 })
    await respondContact(hub, as('bob'), { from: { name: 'friend', project: elsewhere }, accept: true, ttlMs: 60_000 })
    const [intro] = (await listInbox(hub, as('bob'), { limit: 1 })).messages
    expect(intro?.trust).toBe('contact')
    await take(hub, as('bob'), now)

    const { messageId } = await send(hub, as('ann'), { to: [bob], body: 'one' })
    for (const name of ['eve', 'friend']) await send(hub, as(name, elsewhere), { to: [there], body: 'two' })
    await send(hub, { caller: operator, project: 'commons', name: overseer }, { to: [bob], body: 'three' })
    const inbox = async () => (await listInbox(hub, as('bob'), { limit: 4 })).messages.map(({ trust }) => trust)
    expect(await inbox()).toEqual(['person', 'contact', 'stranger', 'project'])
    const thread = String(messageId)
    const page = await viewThread(hub, { caller: local, name: 'bob' }, { thread, after: 0, limit: 5 })
    expect(page.messages).toMatchObject([{ from: 'ann', trust: 'project' }])
    await page.putBack()
    for (const trust of ['project', 'stranger', 'contact', 'person'])
      expect((await take(hub, as('bob'), now))?.mail.trust).toBe(trust)
    // A contact that has ended is none.
    clock.advance(60_000)
    expect(await inbox()).toEqual(['person', 'stranger', 'stranger', 'project'])
    await hub.close()
  })
})
