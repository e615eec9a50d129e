/** The quota of an inbox. */
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { take } from '../mail/take.ts'
import { send } from './send.ts'

eachEngine('The quota of an inbox', (open) => {
  const start = async (inboxQuota?: number) => {
    const database = await open()
    const clock = new TestClock()
    const hub = async (by: TestClock) => openTestHub(await database.connect(), { clock: by, rules: { inboxQuota } })
    return { clock, hub, only: await hub(clock) }
  }

  const mail = (hub: Hub, ...to: string[]) => send(hub, as('ann'), { to: to.map((name) => ({ name })), body: 'hello' })

  const held = async (hub: Hub, name: string): Promise<number> => {
    const rows = await hub[inside].db.all(sql`
      SELECT d.id FROM deliveries d JOIN agents a ON a.id = d.recipient_id WHERE a.name = ${name}`)
    return rows.length
  }

  verifies('mail.quota.inbox', 'the one past it is refused, and read mail counts too', async () => {
    const { only } = await start(3)
    for (let n = 0; n < 3; n++) await mail(only, 'bob')
    const full = { code: 'QUOTA_EXCEEDED', hint: expect.stringContaining('QUOTA_INBOX_LIMIT_COUNT') }
    await expect(mail(only, 'bob')).rejects.toMatchObject(full)
    while ((await take(only, as('bob'), now)) !== undefined);
    await expect(mail(only, 'bob')).rejects.toMatchObject(full)
    expect(await held(only, 'bob')).toBe(3)
  })

  verifies('mail.quota.inbox', 'the others of the same message still get it', async () => {
    const { only } = await start(1)
    await mail(only, 'bob')
    const { deliveries, blocked } = await mail(only, 'bob', 'carol')
    expect(deliveries.map(({ agent }) => agent.name)).toEqual(['carol'])
    expect(blocked).toMatchObject([{ recipient: { agent: { name: 'bob' } }, code: 'QUOTA_EXCEEDED' }])
    expect([await held(only, 'bob'), await held(only, 'carol')]).toEqual([1, 1])
  })

  verifies('mail.quota.inbox', 'there is none by default', async () => {
    const { only } = await start()
    for (let n = 0; n < 20; n++) await mail(only, 'bob')
    expect(await held(only, 'bob')).toBe(20)
  })

  test('what was counted before is not counted again, whoever sends in between', async () => {
    const { clock, hub, only } = await start(600)
    const late = new TestClock(clock.now() - 5000)
    const other = await hub(late)
    const pass = (ms: number) => {
      clock.advance(ms)
      late.advance(ms)
    }
    const many = (hub: Hub, count: number) => Promise.all(Array.from({ length: count }, () => mail(hub, 'bob')))
    for (let n = 0; n < 27; n++) {
      await many(only, 10)
      pass(100)
    }
    // Its clock is behind: what it sends is put before what is there.
    await many(other, 100)
    pass(60_000)
    await many(only, 229)
    await mail(other, 'bob')
    for (const each of [only, other]) await expect(mail(each, 'bob')).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
    expect(await held(only, 'bob')).toBe(600)
  })
})
