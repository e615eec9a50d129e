/** Mail to groups: each of a role, everybody, and one of a role, which goes from one to the other until somebody has read it. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { now, openTestHub, registered, type TestHubOptions, usualRules } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { overseer } from '../../base/names.ts'
import { local, operator, tokenCaller } from '../access/callers.ts'
import { countUnread } from '../agents/agents.ts'
import { register } from '../agents/registration.ts'
import { setContactPolicy } from '../contacts/links.ts'
import type { Hub } from '../hub/hub.ts'
import { isWaitingHere } from '../hub/waits.ts'
import { listInbox } from '../mail/inbox.ts'
import { markRead } from '../mail/receipts.ts'
import { heldMs, offerLapsed } from '../mail/shared.ts'
import { take } from '../mail/take.ts'
import { rankBy } from '../messages/groups.ts'
import { send } from '../messages/send.ts'
import { announce } from './announce.ts'
import { freeFirst } from './free-first.ts'
import { addWaiter } from './presence.ts'

const project = '/srv/team'
const as = (name: string) => registered(name, project)
const any = { to: [{ name: 'any:reviewer' }], body: 'please review' }

eachEngine('A message to a group', (open) => {
  async function start(options: TestHubOptions = {}, database = open()) {
    const hub = await openTestHub(await (await database).connect(), options)
    rankBy(hub, freeFirst)
    const ids: Record<string, number> = {}
    for (const [name, roles] of [
      ['AnnLead', []],
      ['BobFox', ['reviewer', 'tester']],
      ['CleoOwl', ['reviewer']],
      ['DanElk', ['tester']],
    ] as const)
      ids[name] = (await register(hub, local, { project, name, roles })).profile.id
    const to = async (name: string) =>
      (await send(hub, as('AnnLead'), { to: [{ name }], body: 'words' })).deliveries
        .map(({ agent }) => agent.name)
        .sort()
    const inbox = async (name: string) => (await listInbox(hub, as(name), { limit: 9 })).messages.map(({ id }) => id)
    return { hub, ids, to, inbox }
  }
  const idOf = async (hub: Hub, from = 'AnnLead') => {
    const { messageId, deliveries } = await send(hub, as(from), any)
    expect(deliveries).toHaveLength(1)
    return { messageId, first: deliveries[0]?.agent.name ?? '' }
  }

  verifies('mail.group.role', 'but its sender; who wants contact first is asked for it, as ever', async () => {
    const { hub, to } = await start()
    expect(await to('role:reviewer')).toEqual(['BobFox', 'CleoOwl'])
    expect(await to('ROLE:Tester')).toEqual(['BobFox', 'DanElk'])
    const own = await send(hub, as('BobFox'), { to: [{ name: 'role:reviewer' }, { name: 'CleoOwl' }], body: 'words' })
    expect(own.deliveries.map(({ agent }) => agent.name)).toEqual(['CleoOwl'])
    await setContactPolicy(hub, as('CleoOwl'), 'block_all')
    const some = await send(hub, as('AnnLead'), { to: [{ name: 'role:reviewer' }], body: 'words' })
    expect([some.deliveries, some.blocked]).toMatchObject([
      [{ agent: { name: 'BobFox' } }],
      [{ recipient: { agent: { name: 'CleoOwl' } }, code: 'CONTACT_BLOCKED' }],
    ])
    await register(hub, local, { project, name: 'BobFox', roles: [] })
    expect(await to('role:tester')).toEqual(['DanElk'])
    await hub.close()
  })

  verifies('mail.group.all', 'but its sender, people, and names that nobody has acted under', async () => {
    const { hub, to } = await start({ rules: { ...usualRules, broadcastMost: 3 } })
    await send(hub, { caller: operator, project, name: overseer }, { to: [{ name: 'BobFox' }], body: 'well done' })
    await send(hub, as('AnnLead'), { to: [{ name: 'NoBody' }], body: 'are you there?' })
    expect(await to('all:project')).toEqual(['BobFox', 'CleoOwl', 'DanElk'])
    await register(hub, local, { project, name: 'EveYak' })
    await expect(to('all:project')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      hint: expect.stringContaining('BROADCAST_MAX'),
    })
    await hub.close()
  })

  verifies('mail.group.nobody', 'an error that names the roles, and stores nothing', async () => {
    const { hub, to } = await start()
    const missing = { code: 'AGENT_NOT_FOUND', hint: expect.stringContaining('Roles here: reviewer, tester.') }
    for (const name of ['role:painter', 'any:painter']) await expect(to(name)).rejects.toMatchObject(missing)
    const alone = send(hub, as('DanElk'), { to: [{ name: 'role:tester' }], body: 'words' })
    expect((await alone).deliveries).toHaveLength(1)
    await register(hub, local, { project, name: 'BobFox', roles: [] })
    const nobodyElse = send(hub, as('DanElk'), { to: [{ name: 'any:tester' }], body: 'words' })
    await expect(nobodyElse).rejects.toMatchObject({ message: expect.stringContaining('nobody else is in any:tester') })
    await hub.close()
  })

  verifies('mail.group.order', 'who waits, who can be woken, who was active last', async () => {
    const clock = new TestClock()
    const { hub, ids } = await start({ clock })
    clock.advance(1000)
    await take(hub, as('BobFox'), now)
    expect((await idOf(hub)).first).toBe('BobFox')
    const waiter = { session: 's', via: 'claude', since: clock.now(), displaced: () => {} }
    const leave = addWaiter(hub, { agentId: ids.CleoOwl ?? 0, ...waiter })
    expect((await idOf(hub)).first).toBe('CleoOwl')
    await take(hub, as('BobFox'), now)
    await take(hub, as('BobFox'), now)
    const { pending } = clock
    const waiting = take(hub, as('BobFox'), { ...now, waitMs: 50_000 })
    await expect.poll(() => clock.pending).toBeGreaterThan(pending)
    expect((await idOf(hub)).first).toBe('BobFox')
    expect((await waiting)?.mail.body).toBe(any.body)
    leave()
    await hub.close()
  })

  verifies('mail.group.any', 'also at two nodes, and by one who was not offered it', async () => {
    const database = open()
    const { hub, inbox } = await start({ clock: systemClock }, database)
    const other = await openTestHub(await (await database).connect(), { clock: systemClock })
    const rounds = 8
    for (let round = 0; round < rounds; round++) {
      const { messageId } = await idOf(hub)
      const there = async () => (await listInbox(other, as('CleoOwl'), { limit: 9 })).messages.map(({ id }) => id)
      const got = (await Promise.all([inbox('BobFox'), there()])).filter((ids) => ids.includes(messageId))
      expect(got).toHaveLength(1)
    }
    expect(await countUnread(hub)).toBe(rounds)
    await other.close()
    await hub.close()
  })

  verifies('mail.group.held', 'until it is read, ten minutes at most', async () => {
    const clock = new TestClock()
    const { hub, inbox } = await start({ clock })
    const { messageId, first } = await idOf(hub)
    const second = first === 'BobFox' ? 'CleoOwl' : 'BobFox'
    // Somebody who only looks takes nothing.
    const reader = { ...as(second), caller: tokenCaller('reader', false) }
    expect((await listInbox(hub, reader, { limit: 9 })).messages).toEqual([])
    expect(await inbox(second)).toEqual([messageId])
    expect(await inbox(first)).toEqual([])
    expect(await take(hub, as(first), now)).toBeUndefined()
    clock.advance(heldMs)
    // A message with a lower id than the last known one is shown all the same: it is new to this one.
    const later = await listInbox(hub, as(first), { limit: 9, after: messageId + 100 })
    expect(later.messages.map(({ id }) => id)).toEqual([messageId])
    expect(await inbox(second)).toEqual([])
    await markRead(hub, as(first), messageId)
    clock.advance(heldMs)
    expect([await inbox(second), await inbox(first)]).toEqual([[], [messageId]])
    expect(await countUnread(hub)).toBe(0)
    await hub.close()
  })

  verifies('mail.group.back', 'to one who waits, and else to the next, who is woken', async () => {
    const clock = new TestClock()
    const { hub, ids, inbox } = await start({ clock })
    const { messageId, first } = await idOf(hub)
    const second = first === 'BobFox' ? 'CleoOwl' : 'BobFox'
    await inbox(first)
    clock.advance(heldMs - 20_000)
    const waiting = take(hub, as(second), { ...now, waitMs: 50_000 })
    // Not by the number of timers: the background has some too, and a clock turned before the wait sleeps wakes nobody.
    await expect.poll(() => isWaitingHere(hub, ids[second] ?? 0)).toBe(true)
    clock.advance(20_000)
    expect((await waiting)?.mail.body).toBe(any.body)

    const again = await idOf(hub)
    const next = again.first === 'BobFox' ? 'CleoOwl' : 'BobFox'
    expect(await inbox(again.first)).toContain(again.messageId)
    clock.advance(heldMs)
    const woken = take(hub, as(next), { ...now, waitMs: 50_000, loanMs: 1000, signals: [] })
    await offerLapsed(hub)
    expect((await woken)?.mail.body).toBe(any.body)
    expect(await inbox(again.first)).not.toContain(again.messageId)
    expect(messageId).toBeLessThan(again.messageId)
    await hub.close()
  })

  verifies('mail.group.back', 'also where the first one never looks for it, but once', async () => {
    const clock = new TestClock()
    const { hub } = await start({ clock })
    const { messageId, first } = await idOf(hub)
    const second = first === 'BobFox' ? 'CleoOwl' : 'BobFox'
    const told = async (name: string) =>
      (await announce(hub, as(name), { via: 'claude', session: name }))?.messages.map(({ id }) => id)
    clock.advance(heldMs - 1)
    await offerLapsed(hub)
    expect([await told(second), await told(first)]).toEqual([undefined, [messageId]])
    clock.advance(1)
    await offerLapsed(hub)
    expect([await told(first), await told(second)]).toEqual([undefined, [messageId]])
    clock.advance(2 * heldMs)
    await offerLapsed(hub)
    expect([await told(first), await told(second)]).toEqual([undefined, [messageId]])
    await hub.close()
  })

  verifies('mail.group.dead', 'and its sender is told', async () => {
    const clock = new TestClock()
    const { hub, inbox } = await start({ clock })
    const { messageId } = await idOf(hub)
    for (let n = 0; n < 5; n++) {
      expect(await inbox('BobFox')).toEqual([messageId])
      clock.advance(heldMs)
      await offerLapsed(hub)
    }
    expect([await inbox('BobFox'), await inbox('CleoOwl')]).toEqual([[], []])
    expect((await take(hub, as('AnnLead'), now))?.mail.body).toContain('was handed out 5 times')
    await hub.close()
  })
})
