/** Leases on archive paths: an inbox that another has reserved takes no mail, code that is reserved does not matter. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { asked } from '../../../test/support/leases.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { release, reserve } from '../leases/leases.ts'
import { send } from './send.ts'

eachEngine('A reserved inbox', (open) => {
  const begin = async (rules = {}) => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock, rules })
    const write = (from: string, ...to: string[]) =>
      send(hub, as(from), { to: to.map((name) => ({ name })), body: 'words' })
    await write('ann', 'bob', 'cid')
    const hold = (by: string, pattern: string, exclusive = true) =>
      reserve(hub, as(by), { ...asked, patterns: [pattern], exclusive })
    return { clock, hub, write, hold }
  }

  verifies('mail.lease.inbox', 'takes no mail but that of the holder, until the lease ends', async () => {
    const { clock, hub, write, hold } = await begin()
    await hold('dan', 'agents/bob/inbox/**')
    await expect(write('ann', 'bob')).rejects.toMatchObject({
      code: 'FILE_RESERVATION_CONFLICT',
      message: expect.stringContaining('dan'),
    })
    expect(await write('ann', 'bob', 'cid')).toMatchObject({
      deliveries: [{ agent: { name: 'cid' } }],
      blocked: [{ code: 'FILE_RESERVATION_CONFLICT', recipient: { agent: { name: 'bob' } } }],
    })
    expect((await write('dan', 'bob')).blocked).toEqual([])
    clock.advance(asked.ttlMs + 1)
    expect((await write('ann', 'bob')).blocked).toEqual([])
    for (const pattern of ['agents/*/inbox/**', 'agents/bob/**', 'agents/{bob,x}/inbox/2026/*/*.md']) {
      await hold('dan', pattern)
      await expect(write('ann', 'bob')).rejects.toMatchObject({ code: 'FILE_RESERVATION_CONFLICT' })
      await release(hub, as('dan'), { patterns: [pattern] })
    }
    await hub.close()
  })

  verifies(
    'mail.lease.inbox',
    'is not made by leases on code, on other inboxes, shared ones, or where it is turned off',
    async () => {
      const { hub, write, hold } = await begin()
      for (const pattern of [
        '**',
        'src/**',
        '*/bob/**',
        'agents/bob/profile.json',
        'agents/bobby/inbox/**',
        'agentsmith/**',
      ])
        await hold('dan', pattern)
      await hold('dan', 'agents/bob/inbox/**', false)
      expect((await write('ann', 'bob')).blocked).toEqual([])
      await hub.close()
      const off = await begin({ inboxLeases: false })
      await off.hold('dan', 'agents/bob/inbox/**')
      expect((await off.write('ann', 'bob')).blocked).toEqual([])
      await off.hub.close()
    },
  )
})
