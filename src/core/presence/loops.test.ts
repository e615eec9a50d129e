/** Two agents that answer every wake are not woken any more at the budget; their mail is all there, and a person lets them go on. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub, type TestHubOptions, usualRules } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { overseer } from '../../base/names.ts'
import { local, operator } from '../access/callers.ts'
import { countUnread, ensureAgent } from '../agents/agents.ts'
import { countCommits, type Hub } from '../hub/hub.ts'
import { listInbox } from '../mail/inbox.ts'
import { take } from '../mail/take.ts'
import { keepGuard } from '../messages/loops.ts'
import { type Draft, send } from '../messages/send.ts'
import { listLoops, resumeLoop } from '../pages/loops.ts'
import { announce, awaitMail, notePrompt } from './announce.ts'
import { reaching } from './reach.ts'

const turns = 6
const rules = (more: Partial<typeof usualRules.waking> = {}) => ({
  ...usualRules,
  waking: { ...usualRules.waking, loopTurns: turns, ...more },
})
const route = (name: string) => ({ via: 'claude', session: name })
const wake = (hub: Hub, name: string) => awaitMail(hub, as(name), { ...route(name), waitMs: 0, signals: [] })
const write = (hub: Hub, from: string, to: string, more: Partial<Draft> = {}) =>
  reaching(hub, local, () => send(hub, as(from), { to: [{ name: to }], body: 'ping', thread: 'talk', ...more }))

/** Each answers as soon as it is woken, in one thread or in new ones; returns how often one was. */
async function answerWakes(
  hub: Hub,
  { most, thread = 'talk' }: { most: number; thread?: string | undefined },
  other = hub,
) {
  let woken = 0
  for (let [to, from] = ['bob', 'ann'] as [string, string]; woken < most; [to, from] = [from, to]) {
    if ((await wake(hub, to)) === undefined) break
    woken++
    await write(other, to, from, { thread })
  }
  return woken
}

eachEngine('The loop guard', (open) => {
  async function start(options: TestHubOptions = {}, database = open()) {
    const hub = await openTestHub(await (await database).connect(), { rules: rules(), ...options })
    for (const name of ['ann', 'bob', 'cleo']) await ensureAgent(hub, local, { project: 'commons', name })
    return hub
  }

  verifies(
    ['waking.loop.pauses', 'waking.loop.told', 'waking.loop.resumed'],
    'all mail is there, both are told once, and a person lets them go on',
    async () => {
      const hub = await start()
      await write(hub, 'ann', 'bob')
      expect(await answerWakes(hub, { most: 20 })).toBe(turns)
      const talk = async (name: string) =>
        (await listInbox(hub, as(name), { limit: 50, bodies: true })).messages.toReversed()
      const [ann, bob] = [await talk('ann'), await talk('bob')]
      expect([...ann, ...bob].filter(({ body }) => body === 'ping')).toHaveLength(turns + 1)
      for (const own of [ann, bob])
        expect(own.filter(({ subject }) => subject === 'Waking is paused')).toMatchObject([
          { from: { name: 'Parley' }, readAt: expect.any(Number) },
        ])
      expect(ann.filter(({ body }) => body === 'ping').map(({ hops }) => hops)).toEqual([1, 3, 5])
      // Mail goes on: who waits by a call of its own gets it, and nobody is woken.
      const { deliveries } = await write(hub, 'bob', 'ann')
      expect(deliveries[0]?.reach.text).toContain('waking is paused')
      expect((await write(hub, 'ann', 'bob')).deliveries[0]?.reach.text).toContain('waking is paused')
      expect(await wake(hub, 'ann')).toBeUndefined()
      expect(await announce(hub, as('ann'), { ...route('ann'), wakes: true })).toBeUndefined()
      // A turn that a person began tells of it.
      expect(await announce(hub, as('ann'), { ...route('ann'), reminds: true })).toBeDefined()
      expect((await take(hub, as('ann'), { ...now, waitMs: 1 }))?.mail.body).toBe('ping')
      // Other mail of the two wakes as ever.
      const aside = await write(hub, 'cleo', 'ann', { thread: 'aside' })
      expect(await wake(hub, 'ann')).toMatchObject({ messages: [{ id: aside.messageId }] })

      const person = { caller: operator, project: 'commons', name: overseer }
      await send(hub, person, { to: [{ name: 'ann' }], body: 'go on', thread: 'talk' })
      expect(await listLoops(hub, operator)).toEqual([])
      expect((await wake(hub, 'ann')) !== undefined).toBe(true)
      const { hops } = await hopsOf(hub, 'bob', await write(hub, 'ann', 'bob'))
      expect(hops).toBe(1)
      await hub.close()
    },
  )

  const hopsOf = async (hub: Hub, name: string, { messageId }: { messageId: number }) =>
    (await listInbox(hub, as(name), { limit: 50 })).messages.find(({ id }) => id === messageId) ?? { hops: undefined }

  verifies('waking.loop.counts', 'until a prompt that is no pointer; others cost nothing more', async () => {
    const hub = await start()
    const commitsOf = async (work: () => Promise<unknown>) => {
      const before = countCommits(hub)
      await work()
      return countCommits(hub) - before
    }
    expect(await commitsOf(() => write(hub, 'ann', 'bob'))).toBe(1)
    await wake(hub, 'bob')
    expect(await hopsOf(hub, 'ann', await write(hub, 'bob', 'ann'))).toMatchObject({ hops: 1 })
    await notePrompt(hub, as('bob'))
    expect(await commitsOf(() => notePrompt(hub, as('bob')))).toBe(0)
    expect(await hopsOf(hub, 'ann', await write(hub, 'bob', 'ann'))).toMatchObject({ hops: 0 })
    expect(await hopsOf(hub, 'ann', await write(hub, 'bob', 'ann', { automatic: true }))).toMatchObject({ hops: 1 })
    // The end of a turn that is held back is a push too.
    await write(hub, 'ann', 'cleo')
    await announce(hub, as('cleo'), { ...route('cleo'), wakes: true })
    expect(await hopsOf(hub, 'ann', await write(hub, 'cleo', 'ann'))).toMatchObject({ hops: 1 })
    await hub.close()
  })

  verifies('waking.loop.counts', 'at most an hour after the last push, where no prompt is ever heard', async () => {
    const clock = new TestClock()
    const hub = await start({ clock })
    const hops = async () => (await hopsOf(hub, 'ann', await write(hub, 'bob', 'ann', { thread: undefined }))).hops
    const push = async () => {
      await write(hub, 'ann', 'bob')
      expect(await wake(hub, 'bob')).toBeDefined()
    }
    await push()
    clock.advance(1_800_000)
    await push()
    clock.advance(3_599_999)
    expect(await hops()).toBe(1)
    clock.advance(1)
    expect(await hops()).toBe(0)
    await push()
    expect(await hops()).toBe(1)
    await hub.close()
  })

  verifies('all.names.hub', 'nobody acts as Parley or writes to it, and no group has it', async () => {
    const hub = await start()
    await write(hub, 'ann', 'bob')
    await answerWakes(hub, { most: 20 })
    await expect(write(hub, 'PARLEY', 'bob')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(take(hub, as('Parley'), now)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(write(hub, 'ann', 'parley')).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
    const { deliveries, blocked } = await write(hub, 'cleo', 'all:project', { thread: undefined })
    expect([deliveries.map(({ agent }) => agent.name), blocked]).toEqual([['ann', 'bob'], []])
    await hub.close()
  })

  verifies('waking.loop.pair', 'in whatever threads, until somebody resumes it', async () => {
    const clock = new TestClock()
    const hub = await start({ clock, rules: rules({ loopTurns: 1000, loopPerHour: 8 }) })
    await write(hub, 'ann', 'bob', { thread: undefined })
    expect(await answerWakes(hub, { most: 4, thread: undefined })).toBe(4)
    clock.advance(3_600_000)
    await take(hub, as('bob'), now)
    await write(hub, 'ann', 'bob', { thread: undefined })
    expect(await answerWakes(hub, { most: 20, thread: undefined })).toBe(8)
    const [loop] = await listLoops(hub, operator)
    expect(loop).toMatchObject({ thread: undefined, agents: ['ann', 'bob'] })
    expect((await write(hub, 'ann', 'bob')).deliveries[0]?.reach.text).toContain('waking is paused')
    const end = keepGuard(hub)
    const { pending } = clock
    const held = awaitMail(hub, as('bob'), { ...route('bob'), waitMs: 50_000, signals: [] })
    await expect.poll(() => clock.pending).toBeGreaterThan(pending)
    await resumeLoop(hub, operator, loop?.id ?? '')
    // A waiter that was held is told at once.
    const pointer = await held
    expect(pointer).toBeTypeOf('object')
    if (typeof pointer === 'object') await pointer.putBack()
    await end()
    expect(await listLoops(hub, operator)).toEqual([])
    expect((await wake(hub, 'bob')) !== undefined).toBe(true)
    await expect(resumeLoop(hub, operator, 'thread-99')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await hub.close()
  })

  verifies('waking.loop.resumed', 'also before there is a pause', async () => {
    const hub = await start({ rules: rules({ loopTurns: 1000, loopPerHour: turns }) })
    const exchange = (most: number) => answerWakes(hub, { most, thread: undefined })
    await write(hub, 'ann', 'bob', { thread: undefined })
    expect(await exchange(turns - 1)).toBe(turns - 1)
    const person = { caller: operator, project: 'commons', name: overseer }
    await send(hub, person, { to: [{ name: 'ann' }], body: 'go on' })
    await write(hub, 'ann', 'bob', { thread: undefined })
    await write(hub, 'bob', 'ann', { thread: undefined })
    expect(await listLoops(hub, operator)).toEqual([])
    await hub.close()
  })

  verifies('waking.loop.resumed', 'by one message of a person, both in the thread and for the pair', async () => {
    const hub = await start({ rules: rules({ loopPerHour: turns }) })
    await write(hub, 'ann', 'bob')
    expect(await answerWakes(hub, { most: 20 })).toBe(turns)
    expect(await listLoops(hub, operator)).toHaveLength(2)
    const person = { caller: operator, project: 'commons', name: overseer }
    await send(hub, person, { to: [{ name: 'ann' }], body: 'go on', thread: 'talk' })
    expect(await listLoops(hub, operator)).toEqual([])
    await hub.close()
  })

  verifies('waking.loop.nodes', 'where the waiters are at one node and the sends at the other', async () => {
    const database = open()
    const here = await start({ clock: systemClock }, database)
    const there = await openTestHub(await (await database).connect(), { clock: systemClock, rules: rules() })
    const ends = [keepGuard(here), keepGuard(there)]
    await write(there, 'ann', 'bob')
    // The first answer may be on its way before the other node knows that its agent was woken.
    const woken = await answerWakes(here, { most: 40 }, there)
    expect(woken).toBeGreaterThanOrEqual(turns)
    expect(woken).toBeLessThan(40)
    await expect.poll(() => listLoops(there, operator)).toMatchObject([{ thread: 'talk', agents: ['ann', 'bob'] }])
    expect(await countUnread(here)).toBe(woken + 1)
    await resumeLoop(there, operator, 'talk')
    await expect.poll(() => wake(here, 'ann').then((one) => one ?? wake(here, 'bob'))).toBeDefined()
    for (const end of ends) await end()
    await there.close()
    await here.close()
  })
})
