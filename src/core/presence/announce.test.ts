/** An agent is told of each message once, whatever fails on the way. */
import { setImmediate } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { noteDelivered } from '../mail/delivered.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { announce, awaitMail, confirmAnnounced } from './announce.ts'
import { borrowMail, runLoanMs } from './runs.ts'

const bob = as('bob')
const waiter = { via: 'claude', session: 'window' }
const turn = { ...waiter, reminds: true }

const write = async (hub: Hub) =>
  (await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'a secret', subject: 'a subject' })).messageId

const idsOf = async (pointer: ReturnType<typeof announce>) => (await pointer)?.messages.map(({ id }) => id)

eachEngine('Announcing', (open) => {
  verifies('waking.announce.once', 'hooks and waiters, at two nodes', async () => {
    const database = await open()
    const hubs = [
      await openTestHub(await database.connect(), { clock: systemClock }),
      await openTestHub(await database.connect(), { clock: systemClock }),
    ] as const
    await ensureAgent(hubs[0], local, { project: 'commons', name: 'bob' })
    const count = 120
    const told: number[] = []
    const stop = new AbortController()
    const routes = hubs.flatMap((hub, node) =>
      [0, 1].map(async (n) => {
        const route = { ...turn, session: `${node} ${n}` }
        while (!stop.signal.aborted) {
          const found =
            n === 0 ? await announce(hub, bob, route) : await awaitMail(hub, bob, { ...route, waitMs: 20, signals: [] })
          // A look that finds nothing takes no turn of the loop.
          await setImmediate()
          if (typeof found === 'object') told.push(...found.messages.map(({ id }) => id))
        }
      }),
    )
    const sent = await Promise.all(Array.from({ length: count }, (_, n) => write(hubs[n % 2 === 0 ? 0 : 1])))
    await expect.poll(() => told.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
    stop.abort()
    await Promise.all(routes)
    expect(told.toSorted((a, b) => a - b)).toEqual(sent.toSorted((a, b) => a - b))
    for (const hub of hubs) await hub.close()
  })

  verifies('waking.announce.confirm', 'and is never a second time once a turn began with it', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const first = await write(hub)
    const later = () => idsOf(announce(hub, bob, waiter))
    expect(await later()).toEqual([first])
    for (const _ of [2, 3]) {
      clock.advance(29_999)
      expect(await later()).toBeUndefined()
      clock.advance(1)
      expect(await later()).toEqual([first])
    }
    clock.advance(30_000)
    expect(await later()).toBeUndefined()
    const second = await write(hub)
    expect(await later()).toEqual([second])
    await confirmAnnounced(hub, bob, waiter.session)
    clock.advance(30_000)
    expect(await later()).toBeUndefined()
    await hub.close()
  })

  verifies('waking.announce.remind', 'and not by a waiter, nor a third time', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const id = await write(hub)
    const tell = async () => {
      const pointer = await announce(hub, bob, turn)
      await pointer?.confirm()
      return pointer?.messages.map((message) => message.id)
    }
    expect(await tell()).toEqual([id])
    clock.advance(900_000)
    expect(await announce(hub, bob, waiter)).toBeUndefined()
    // Lost on its way, the reminder is still due, and is one all the same.
    await (await announce(hub, bob, turn))?.putBack()
    expect(await reader(hub).all(sql`SELECT offered_via FROM deliveries`)).toEqual([{ offered_via: 'claude' }])
    expect(await tell()).toEqual([id])
    clock.advance(900_000)
    expect(await tell()).toBeUndefined()
    await hub.close()
  })

  verifies('waking.announce.lost', 'at once, with its tries and without a trace', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const id = await write(hub)
    for (const _ of [1, 2, 3, 4]) {
      const pointer = await announce(hub, bob, waiter)
      expect(pointer?.messages).toMatchObject([{ id, from: 'ann', importance: 'normal' }])
      expect(JSON.stringify(pointer)).not.toMatch(/secret|subject/)
      await pointer?.putBack()
    }
    const rows = await reader(hub).all(sql`SELECT offered_at, offered_via FROM deliveries`)
    expect(rows).toEqual([{ offered_at: null, offered_via: null }])
    expect((await announce(hub, bob, turn))?.unread).toBe(1)
    expect(await reader(hub).all(sql`SELECT offered_via FROM deliveries`)).toEqual([{ offered_via: 'claude' }])
    await hub.close()
  })

  verifies('waking.announce.confirm', 'and what its agent has fetched meanwhile is no news', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const ids = [await write(hub), await write(hub)]
    noteDelivered(hub, bob, ids.slice(0, 1))
    // Its mark is written after 250 ms.
    await expect.poll(() => clock.pending).toBe(1)
    expect(await idsOf(announce(hub, bob, waiter))).toEqual(ids.slice(1))
    await hub.close()
  })

  verifies('waking.announce.confirm', 'nor one that is on loan, which is not looked for all the time', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    await write(hub)
    await announce(hub, bob, waiter)
    const lent = await borrowMail(hub, bob, { waitMs: 0, signals: [], session: 'run' })
    clock.advance(40_000)
    const { pending } = clock
    const waits = awaitMail(hub, bob, { ...waiter, waitMs: 50_000, signals: [] })
    await expect.poll(() => clock.pending).toBe(pending + 1)
    clock.advance(1000)
    await setImmediate()
    // It sleeps until the loan is over.
    expect(clock.pending).toBe(pending + 1)
    clock.advance(runLoanMs - 41_000)
    expect(await waits).toMatchObject({ messages: lent?.messages })
    await hub.close()
  })

  verifies('waking.announce.waits', 'which then takes nothing', async () => {
    const hub = await openTestHub(await (await open()).connect(), { clock: systemClock })
    await ensureAgent(hub, local, { project: 'commons', name: 'bob' })
    const waits = () => awaitMail(hub, bob, { ...waiter, waitMs: 20_000, signals: [] })
    const older = waits()
    const newer = waits()
    expect(await older).toBe('displaced')
    const id = await write(hub)
    expect(await newer).toMatchObject({ messages: [{ id }] })
    expect(await awaitMail(hub, bob, { ...waiter, waitMs: 1, signals: [] })).toBeUndefined()
    await hub.close()
  })

  verifies('waking.announce.waits', 'also where the older one asks again after the newer one came', async () => {
    const hub = await openTestHub(await (await open()).connect(), { clock: systemClock })
    await ensureAgent(hub, local, { project: 'commons', name: 'bob' })
    const waits = (since: number) => awaitMail(hub, bob, { ...waiter, waitMs: 20_000, since, signals: [] })
    // It stands while the newer one is between two questions, and gives way when that one asks again.
    const alone = waits(1000)
    const newer = waits(2000)
    expect(await alone).toBe('displaced')
    expect(await waits(1000)).toBe('displaced')
    const id = await write(hub)
    expect(await newer).toMatchObject({ messages: [{ id }] })
    await hub.close()
  })

  verifies('waking.delivery.marked', 'also after its loan; what was put back is new again', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const id = await write(hub)
    noteDelivered(hub, bob, [id])
    await expect.poll(() => clock.pending).toBe(1)
    clock.advance(250)
    const delivered = () => reader(hub).all(sql`SELECT delivered_at FROM deliveries`)
    await expect.poll(delivered).toEqual([{ delivered_at: clock.now() }])
    expect(await announce(hub, bob, turn)).toBeUndefined()
    const taken = await take(hub, bob, now)
    await taken?.putBack()
    expect(await idsOf(announce(hub, bob, turn))).toEqual([id])
    await take(hub, bob, { ...now, loanMs: 1000 })
    clock.advance(40_000)
    expect(await announce(hub, bob, waiter)).toBeUndefined()
    await hub.close()
  })
})
