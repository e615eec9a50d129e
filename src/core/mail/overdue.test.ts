/** Overdue acknowledgements, told and escalated once. */

import sql from 'sql-template-tag'
import { expect, onTestFinished, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { type Line, readableLog } from '../../../test/support/logged.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { activity } from '../agents/activity.ts'
import { whois } from '../agents/profiles.ts'
import { keepChores } from '../hub/chores.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { listLeases } from '../leases/leases.ts'
import { send } from '../messages/send.ts'
import { reserveInbox } from './escalation.ts'
import { type OverdueRules, overdueChore } from './overdue.ts'
import { acknowledgeMessage } from './receipts.ts'

const minute = 60_000
const ttlMs = 30 * minute

eachEngine('Overdue acknowledgements', (open) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const { log, lines } = readableLog()
    const hub = async () => openTestHub(await database.connect(), { clock, log })
    return { clock, hub, overdue: () => lines.filter(({ event }) => event === 'ack_overdue') as Line[], lines }
  }

  const keep = (hub: Hub, holder: string, rules: Partial<OverdueRules> = {}) => {
    const reserve = async () => {
      throw new Error('nothing is to be reserved')
    }
    const chore = overdueChore({ everyMs: minute, ttlMs, escalation: 'none', reserve, ...rules })
    const stop = keepChores(hub, [chore], holder)
    onTestFinished(stop)
    return stop
  }

  const settle = (clock: TestClock, timers: number) =>
    expect.poll(() => clock.pending, { interval: 1, timeout: 10_000 }).toBe(timers)

  const ask = (hub: Hub, to: string[], subject: string, { ackRequired = true, project = 'commons' } = {}) =>
    send(hub, as('ann', project), { to: to.map((name) => ({ name })), subject, body: 'Please confirm.', ackRequired })

  verifies('mail.ack.overdue-once', 'each is told once, by one of two processes and after a restart', async () => {
    const { clock, hub, overdue } = await start()
    const [one, two] = [await hub(), await hub()]
    const late = await ask(one, ['bob', 'carol'], 'late')
    await ask(one, ['bob'], 'wants none', { ackRequired: false })
    const confirmed = await ask(one, ['bob'], 'confirmed')
    await acknowledgeMessage(one, as('bob'), confirmed.messageId)
    clock.advance(ttlMs)
    await ask(one, ['bob'], 'fresh')
    // Activity is written after a while: its timer goes, too.
    clock.advance(1)
    await activity(one).write()
    keep(one, 'one')
    const stopTwo = keep(two, 'two')
    clock.advance(5000)
    await settle(clock, 2)
    expect(
      overdue()
        .map(({ recipient }) => recipient)
        .sort(),
    ).toEqual(['bob', 'carol'])
    expect(overdue()[0]).toMatchObject({
      level: 40,
      message_id: late.messageId,
      subject: 'late',
      from: 'ann',
      project: 'commons',
      age_seconds: 1805,
      escalation: 'none',
      msg: 'an acknowledgement is overdue',
    })
    await stopTwo()
    keep(await hub(), 'three')
    for (let passed = 0; passed < 5; passed++) {
      clock.advance(minute)
      await settle(clock, 2)
    }
    expect(overdue()).toHaveLength(2)
    clock.advance(ttlMs)
    await settle(clock, 2)
    expect(overdue().map(({ subject }) => subject)).toEqual(['late', 'late', 'fresh'])
  })

  verifies('mail.ack.overdue-once', 'more than go in one batch are all told', async () => {
    const { clock, hub, overdue } = await start()
    const only = await hub()
    const names = Array.from({ length: 30 }, (_, n) => `agent-${n}`)
    for (let round = 0; round < 7; round++) await ask(only, names, `round ${round}`)
    clock.advance(ttlMs)
    await activity(only).write()
    keep(only, 'only')
    clock.advance(5000)
    await settle(clock, 1)
    expect(new Set(overdue().map(({ delivery_id }) => delivery_id)).size).toBe(210)
    expect(overdue()).toHaveLength(210)
    const left = await only[inside].db.all(sql`SELECT id FROM deliveries WHERE escalated_at IS NULL`)
    expect(left).toEqual([])
  })

  verifies('mail.ack.escalated', 'by a line in the log that says so', async () => {
    const { clock, hub, overdue } = await start()
    const only = await hub()
    await ask(only, ['bob'], 'late')
    clock.advance(ttlMs)
    await activity(only).write()
    keep(only, 'only', { escalation: 'log' })
    clock.advance(5000)
    await settle(clock, 1)
    expect(overdue()).toMatchObject([{ escalation: 'log', msg: 'an acknowledgement is overdue: escalated' }])
    expect((await listLeases(only, local, 'commons', { activeOnly: false, limit: 10 })).leases).toEqual([])
  })

  verifies(
    ['mail.ack.escalated', 'mail.lease.inbox'],
    'by a reservation of the inbox, held by an agent that is made for it',
    async () => {
      const { clock, hub, overdue } = await start()
      const only = await hub()
      const project = '/srv/code/backend'
      await ask(only, ['bob'], 'late', { project })
      await ask(only, ['bob'], 'late too', { project })
      const confirmed = await ask(only, ['dave'], 'confirmed', { project })
      await acknowledgeMessage(only, as('dave', project), confirmed.messageId)
      clock.advance(ttlMs)
      await activity(only).write()
      const seen = (await whois(only, local, project, 'bob')).activeAt
      const reserve = reserveInbox({ holder: 'ops', ttlMs: 2 * 60 * minute, exclusive: true })
      keep(only, 'only', { escalation: 'file_reservation', reserve })
      clock.advance(5000)
      await settle(clock, 1)
      expect(overdue()).toMatchObject([
        { subject: 'late', escalation: 'file_reservation', reserved: true },
        { subject: 'late too', escalation: 'file_reservation', reserved: true },
      ])
      const { leases } = await listLeases(only, local, project, { activeOnly: true, limit: 10 })
      expect(leases).toMatchObject([
        { agent: 'ops', pattern: 'agents/bob/inbox/**', exclusive: true, expiresAt: clock.now() + 2 * 60 * minute },
      ])
      expect(await whois(only, local, project, 'ops')).toMatchObject({ program: 'ops' })
      expect((await whois(only, local, project, 'bob')).activeAt).toBe(seen)
      // Meanwhile nobody but the holder reaches the inbox.
      await expect(ask(only, ['bob'], 'kept off', { project })).rejects.toMatchObject({
        code: 'FILE_RESERVATION_CONFLICT',
      })
      // Later, another one is late: the reservation lasts longer, and there is still one.
      await send(only, as('ops', project), {
        to: [{ name: 'bob' }],
        body: 'words',
        subject: 'the next',
        ackRequired: true,
      })
      await activity(only).write()
      clock.advance(ttlMs + minute)
      await settle(clock, 1)
      expect(overdue()).toHaveLength(3)
      const later = (await listLeases(only, local, project, { activeOnly: true, limit: 10 })).leases
      expect(later).toMatchObject([{ id: leases[0]?.id, expiresAt: clock.now() + 2 * 60 * minute }])
    },
  )

  verifies(
    'mail.ack.escalated',
    'by a reservation that whoever is late holds, where nobody else is named',
    async () => {
      const { clock, hub } = await start()
      const only = await hub()
      await ask(only, ['bob'], 'late')
      clock.advance(ttlMs)
      await activity(only).write()
      keep(only, 'only', {
        escalation: 'file_reservation',
        reserve: reserveInbox({ holder: undefined, ttlMs: minute, exclusive: false }),
      })
      clock.advance(5000)
      await settle(clock, 1)
      const { leases } = await listLeases(only, local, 'commons', { activeOnly: true, limit: 10 })
      expect(leases).toMatchObject([{ agent: 'bob', pattern: 'agents/bob/inbox/**', exclusive: false }])
    },
  )

  verifies('mail.chore.taken-over', 'an escalation that was cut off before its mark is finished once', async () => {
    const { clock, hub, overdue } = await start()
    const [dying, heir] = [await hub(), await hub()]
    await ask(heir, ['bob'], 'late')
    clock.advance(ttlMs)
    await activity(heir).write()
    const reserve = reserveInbox({ holder: 'ops', ttlMs: 60 * minute, exclusive: false })
    const cut = Promise.withResolvers<void>()
    const reserved = Promise.withResolvers<void>()
    // It has reserved the inbox and is heard of no more.
    keep(dying, 'dying', {
      escalation: 'file_reservation',
      reserve: async (hub, late) => {
        await reserve(hub, late)
        reserved.resolve()
        await cut.promise
      },
    })
    clock.advance(5000)
    await reserved.promise
    keep(heir, 'heir', { escalation: 'file_reservation', reserve })
    clock.advance(minute)
    await settle(clock, 1)
    expect(overdue()).toHaveLength(1)
    expect((await listLeases(heir, local, 'commons', { activeOnly: true, limit: 10 })).leases).toHaveLength(1)
    cut.resolve()
    await settle(clock, 2)
    expect(overdue()).toHaveLength(1)
  })

  test('an inbox that cannot be reserved stops no other', async () => {
    const { clock, hub, overdue, lines } = await start()
    const only = await hub()
    await ask(only, ['bob', 'carol'], 'late')
    clock.advance(ttlMs)
    await activity(only).write()
    keep(only, 'only', {
      escalation: 'file_reservation',
      reserve: async (_hub, { name }) => {
        if (name === 'bob') throw new Error('no')
      },
    })
    clock.advance(5000)
    await settle(clock, 1)
    expect(overdue()).toMatchObject([
      { recipient: 'bob', reserved: false },
      { recipient: 'carol', reserved: true },
    ])
    expect(lines.filter(({ event }) => event === 'ack_escalation_failed')).toMatchObject([{ recipient: 'bob' }])
  })
})
