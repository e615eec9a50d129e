/** Runs in the core, on both engines: what is lent, handed out, acknowledged, and what comes back. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { countWaiters, type Hub } from '../hub/hub.ts'
import { noteDelivered } from '../mail/delivered.ts'
import { listInbox } from '../mail/inbox.ts'
import { takeInRun } from '../mail/run-mail.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { awaitMail } from './announce.ts'
import { claimForBridge } from './bridging.ts'
import { reaching } from './reach.ts'
import { borrowMail, endRun, type Run, renewRun, runLoanMs } from './runs.ts'

eachEngine('Runs', (open) => {
  const [ann, bob] = [as('ann'), as('bob')] as const
  const start = async (mailboxAttempts = 0) => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock, mailboxAttempts })
    const write = (body: string, thread: string) => send(hub, ann, { to: [{ name: 'bob' }], body, thread })
    return { clock, hub, write }
  }
  const borrow = (hub: Hub, waitMs = 0) => borrowMail(hub, bob, { waitMs, signals: [], session: 'run' })
  const bodies = async (hub: Hub, run: string) => {
    const all = []
    for (let one = await takeInRun(hub, bob, run); one !== undefined; one = await takeInRun(hub, bob, run))
      all.push(one.mail.body)
    return all
  }

  verifies('all.waits.limited', 'calls, waiters and runs of an agent together', async () => {
    const hub = await openTestHub(await (await open()).connect(), { clock: new TestClock(), waitsPerAgent: 2 })
    const ended = new AbortController()
    const waits = { waitMs: 50_000, signals: [ended.signal], door: 'hooks' }
    const waiter = (session: string) => awaitMail(hub, bob, { ...waits, via: 'claude', session })
    await take(hub, bob, now)
    const two = [waiter('window'), borrowMail(hub, bob, { ...waits, session: 'run' })]
    // Asleep, and not only about to be: they are counted from then on.
    await expect.poll(() => hub.metrics.waiters.labels('hooks').numbers).toEqual([2])
    const limited = { code: 'RATE_LIMITED' }
    await expect(take(hub, bob, { ...now, ...waits })).rejects.toMatchObject(limited)
    await expect(waiter('another')).rejects.toMatchObject(limited)
    expect(await take(hub, bob, now)).toBeUndefined()
    ended.abort()
    await Promise.all(two)
    const one = take(hub, bob, { ...now, ...waits, signals: [AbortSignal.timeout(50)] })
    expect(await one).toBeUndefined()
    await hub.close()
  })

  verifies(
    ['run.mail.lent', 'run.mail.handed'],
    'the mail of one thread is lent, handed out once, and read when the command has ended well',
    async () => {
      const { hub, write } = await start()
      await write('one', 'T-1')
      await write('other', 'T-2')
      await write('two', 'T-1')
      const first = await borrow(hub)
      const second = await borrow(hub)
      expect([first?.messages.length, second?.messages.length]).toEqual([2, 1])
      expect(first?.messages[0]).toMatchObject({ from: 'ann', thread: 'T-1' })
      expect(await borrow(hub)).toBeUndefined()
      expect(await take(hub, bob, now)).toBeUndefined()
      const [run = '', next = ''] = [first?.run, second?.run]
      expect((await listInbox(hub, bob, { limit: 9, run })).messages.map(({ thread }) => thread)).toEqual([
        'T-1',
        'T-1',
      ])
      const lost = await takeInRun(hub, bob, run)
      await lost?.putBack()
      expect(await bodies(hub, run)).toEqual(['one', 'two'])
      expect(await endRun(hub, bob, { run, handled: true })).toBe(2)
      expect(await bodies(hub, next)).toEqual(['other'])
      expect(await endRun(hub, bob, { run: next, handled: false })).toBe(1)
      expect((await take(hub, bob, now))?.mail.body).toBe('other')
      expect(await take(hub, bob, now)).toBeUndefined()
      await expect(takeInRun(hub, bob, next)).rejects.toMatchObject({ code: 'LEASE_EXPIRED' })
    },
  )

  verifies('run.mail.handed', 'what no answer has held is not acknowledged, however the command ended', async () => {
    const { clock, hub, write } = await start()
    for (const body of ['one', 'two', 'three']) await write(body, 'T-1')
    const { run = '', messages = [] } = (await borrow(hub)) ?? {}
    const first = await takeInRun(hub, bob, run)
    expect(first?.mail.body).toBe('one')
    noteDelivered(hub, bob, [messages[1]?.id ?? 0], true)
    // Its mark is written after 250 ms.
    await expect.poll(() => clock.pending).toBeGreaterThan(0)
    expect(await endRun(hub, bob, { run, handled: true })).toBe(2)
    const next = await borrow(hub)
    expect(next?.messages.map(({ id }) => id)).toEqual(messages.slice(2).map(({ id }) => id))
    expect(await bodies(hub, next?.run ?? '')).toEqual(['three'])
  })

  verifies('waking.loop.pauses', 'no agent is started for it either, and no bridge is handed it', async () => {
    const { hub, write } = await start()
    const automatic = (to: string, from: typeof ann) =>
      send(hub, from, { to: [{ name: to }], body: 'ping', thread: 'loop', automatic: true })
    const sent = []
    for (let n = 0; n < 15; n++) sent.push(await automatic('bob', ann), await automatic('ann', bob))
    await write('other', 'T-1')
    const run = await borrow(hub)
    expect(run?.messages).toMatchObject([{ thread: 'T-1' }])
    expect(await borrow(hub)).toBeUndefined()
    const bridge = { uid: sent[0]?.uid ?? '', client: 'b', via: 'openclaw' }
    await expect(claimForBridge(hub, bob, bridge)).rejects.toMatchObject({ code: 'MESSAGE_CLAIMED', message: /paused/ })
    // The agent that was started counts as woken.
    await send(hub, bob, { to: [{ name: 'ann' }], body: 'done', thread: 'T-1' })
    const { messages } = await listInbox(hub, ann, { limit: 1 })
    expect(messages).toMatchObject([{ hops: 1 }])
  })

  verifies('run.mail.returned', 'a loan that nobody renews lapses, and its run is over', async () => {
    const { clock, hub, write } = await start()
    await write('one', 'T-1')
    const { run = '' } = (await borrow(hub)) ?? {}
    clock.advance(runLoanMs - 1)
    expect(await renewRun(hub, bob, run)).toBe(1)
    clock.advance(runLoanMs - 1)
    expect(await borrow(hub)).toBeUndefined()
    let again: Run | undefined
    const waits = borrow(hub, 10_000).then((found) => {
      again = found
    })
    // A look that is on its way sets its timer after the clock was turned.
    const turned = () => {
      clock.advance(1)
      return again
    }
    await expect.poll(turned, { interval: 2 }).toBeDefined()
    await waits
    expect(again?.messages).toHaveLength(1)
    await expect(takeInRun(hub, bob, run)).rejects.toMatchObject({ code: 'LEASE_EXPIRED' })
    expect([await renewRun(hub, bob, run), await endRun(hub, bob, { run, handled: true })]).toEqual([0, 0])
    // An answer that never reached the program gives its mail back at once.
    await again?.putBack()
    expect((await borrow(hub))?.messages).toHaveLength(1)
  })

  verifies('run.mail.dead', 'mail that five runs have not handled is dead, and its sender is told', async () => {
    const { hub, write } = await start()
    await write('poison', 'T-1')
    for (let n = 0; n < 5; n++) {
      const { run = '' } = (await borrow(hub)) ?? {}
      expect(await endRun(hub, bob, { run, handled: false })).toBe(1)
    }
    expect(await borrow(hub)).toBeUndefined()
    expect((await take(hub, ann, now))?.mail.body).toContain('was handed out 5 times')
    const twice = await start(2)
    await twice.write('poison', 'T-1')
    for (let n = 0; n < 2; n++) {
      const { run = '' } = (await borrow(twice.hub)) ?? {}
      await endRun(twice.hub, bob, { run, handled: false })
    }
    expect(await borrow(twice.hub)).toBeUndefined()
  })

  verifies('waking.reach.told', 'while a program waits to start it, an agent will be woken', async () => {
    const { hub } = await start()
    const ended = new AbortController()
    const waits = borrowMail(hub, bob, { waitMs: 10_000, signals: [ended.signal], session: 'run' })
    await expect.poll(() => countWaiters(hub), { interval: 1 }).toBe(1)
    const sent = await reaching(hub, ann.caller, () => send(hub, ann, { to: [{ name: 'bob' }], body: 'hello' }))
    expect(sent.deliveries[0]?.reach).toMatchObject({ state: 'wakeable', via: 'run' })
    expect((await waits)?.messages).toHaveLength(1)
  })
})
