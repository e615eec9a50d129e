/** Pruning: what goes, what stays, and what those are told who come too late. */
import sql, { raw } from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { catchUp, dbOf, noting } from '../../../test/support/feed.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { insertChanges, listChangesAfter } from '../../store/feed/changes.ts'
import { start as origin } from '../../store/feed/positions.ts'
import { keepChores } from '../hub/chores.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { stepProjection } from './projections.ts'
import { pruningChore, silenceMs } from './pruning.ts'

const day = 86_400_000

eachEngine('Pruning', (open, dialect) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const hub = await openTestHub(await database.connect(), { clock })
    return { clock, hub, database }
  }

  /** `count` changes in one commit, numbered from `from` on. */
  const change = (hub: Hub, from: number, count: number) =>
    dbOf(hub).tx(async (tx) =>
      insertChanges(
        tx,
        Array.from({ length: count }, (_, index) => ({
          kind: 'agent.updated' as const,
          projectId: 1,
          agentId: from + index,
        })),
        { actor: 'w', now: hub.clock.now() },
      ),
    )

  const left = async (hub: Hub) =>
    (await dbOf(hub).all<{ n: number }>(sql`SELECT agent_id AS n FROM changes ORDER BY id`)).map(({ n }) => n)

  /** Has the chore run until so many changes are left, and once more: then no more go. */
  const prune = async (hub: Hub, clock: TestClock, count: number) => {
    const stop = keepChores(hub, [pruningChore({ keptMs: day })])
    onTestFinished(stop)
    // On PostgreSQL an open transaction of another test holds up what is pruned, as it does for followers.
    const newest = (await left(hub)).at(-1)
    await expect
      .poll(async () => (await listChangesAfter(dbOf(hub), origin, 2000)).at(-1), { timeout: 10_000 })
      .toMatchObject({ agentId: newest })
    const ran = async () => {
      await expect.poll(() => clock.pending, { interval: 1 }).toBe(1)
      return (await left(hub)).length
    }
    const turn = () => {
      clock.advance(3_600_000)
      return ran()
    }
    await expect.poll(turn, { interval: 1, timeout: 10_000 }).toBe(count)
    expect(await turn()).toBe(count)
    await stop()
  }

  verifies('feed.pruning.parts', 'deletes what is old, a few hundred in a commit, and keeps the newest', async () => {
    const { clock, hub } = await start()
    await change(hub, 1, 1000)
    clock.advance(day / 2)
    await change(hub, 1001, 10)
    clock.advance(day / 2 + 1)
    const before = hub[inside].commits
    await prune(hub, clock, 10)
    expect(hub[inside].commits - before).toBeGreaterThanOrEqual(4)
    expect(await left(hub)).toEqual(Array.from({ length: 10 }, (_, index) => 1001 + index))
    clock.advance(30 * day)
    await prune(hub, clock, 1)
    expect(await left(hub)).toEqual([1010])
    // Ids go on from there.
    await change(hub, 2000, 1)
    expect(await left(hub)).toEqual([1010, 2000])
  })

  verifies('feed.pruning.parts', 'leaves what a follower has not passed', async () => {
    const { clock, hub } = await start()
    const { follower, noted } = await noting(dbOf(hub))
    await catchUp(hub, follower)
    await change(hub, 1, 5)
    await catchUp(hub, follower)
    await change(hub, 6, 5)
    clock.advance(2 * day)
    await prune(hub, clock, 5)
    expect(await left(hub)).toEqual([6, 7, 8, 9, 10])
    await catchUp(hub, follower)
    expect(await noted()).toEqual(['rebuilt', ...Array.from({ length: 10 }, (_, index) => `w${index + 1}`)])
    await prune(hub, clock, 1)
  })

  verifies(
    ['feed.pruning.parts', 'feed.follower.gap'],
    'waits no longer for a follower that was silent for a week, which is told of the gap',
    async () => {
      const { clock, hub } = await start()
      const { follower, noted } = await noting(dbOf(hub))
      await catchUp(hub, follower)
      await change(hub, 1, 5)
      clock.advance(silenceMs - day)
      await prune(hub, clock, 5)
      clock.advance(day)
      await prune(hub, clock, 1)
      await catchUp(hub, follower)
      expect(await noted()).toEqual(['rebuilt', 'rebuilt'])
      await change(hub, 6, 1)
      await catchUp(hub, follower)
      expect(await noted()).toEqual(['rebuilt', 'rebuilt', 'w6'])
    },
  )

  if (dialect === 'postgres') {
    /** As after a dump into another server, which has not come as far in its count of transactions. */
    const moveAhead = (hub: Hub, ...tables: ('changes' | 'followers')[]) =>
      dbOf(hub).tx(async (tx) => {
        for (const table of tables) await tx.all(sql`UPDATE ${raw(table)} SET tx = tx + 1000000000`)
      })

    verifies(
      'feed.follower.gap',
      'a follower begins anew once, and not again, before what another server pruned was cleared away',
      async () => {
        const { clock, hub } = await start()
        const { follower, noted } = await noting(dbOf(hub))
        await catchUp(hub, follower)
        await change(hub, 1, 3)
        await catchUp(hub, follower)
        clock.advance(2 * day)
        await prune(hub, clock, 1)
        await moveAhead(hub, 'changes', 'followers')
        const looked = [await stepProjection(hub, follower), await stepProjection(hub, follower)]
        expect(looked).toEqual(['more', 'hidden'])
        await change(hub, 4, 1)
        const noteNext = async () => {
          await stepProjection(hub, follower)
          return noted()
        }
        await expect.poll(noteNext, { timeout: 10_000 }).toEqual(['rebuilt', 'w1', 'w2', 'w3', 'rebuilt', 'w4'])
      },
    )

    verifies(
      'feed.follower.gap',
      'a follower begins anew though this server had counted past its watermark',
      async () => {
        const { clock, hub } = await start()
        const { follower, noted } = await noting(dbOf(hub))
        await catchUp(hub, follower)
        await change(hub, 1, 3)
        await moveAhead(hub, 'changes')
        await change(hub, 4, 2)
        await prune(hub, clock, 2)
        await catchUp(hub, follower)
        expect(await noted()).toEqual(['rebuilt', 'rebuilt'])
      },
    )

    verifies(
      'feed.follower.gap',
      'clears away what a copy of another server’s database brought, and followers begin anew',
      async () => {
        const { clock, hub } = await start()
        const { follower, noted } = await noting(dbOf(hub))
        await catchUp(hub, follower)
        await change(hub, 1, 3)
        await moveAhead(hub, 'changes', 'followers')
        await change(hub, 4, 2)
        await prune(hub, clock, 2)
        await catchUp(hub, follower)
        await change(hub, 6, 1)
        await catchUp(hub, follower)
        expect(await noted()).toEqual(['rebuilt', 'rebuilt', 'w6'])
      },
    )
  }

  if (dialect === 'sqlite')
    verifies(
      'feed.pruning.parts',
      'wakes those who wait for what was pruned before their process came to look',
      async () => {
        const { clock, hub, database } = await start()
        const db = await database.connect()
        let look = () => {}
        // A process that is not told of changes until the test says so, like one that was stopped for long.
        const asleep = await openTestHub(
          {
            dialect: db.dialect,
            long: db.long,
            all: (query) => db.all(query),
            tx: (work) => db.tx(work),
            async listen(wake) {
              look = () => wake(undefined)
              return async () => {}
            },
            announce() {},
            snapshot: (look) => db.snapshot(look),
            check: async () => {},
            close: () => db.close(),
          },
          { clock, waitMs: 365 * day },
        )
        const mail = take(asleep, as('bob'), { ...now, waitMs: 365 * day })
        await expect.poll(() => asleep[inside].wakes.size).toBe(1)
        await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'hello' })
        await change(hub, 1, 1)
        const stop = keepChores(hub, [pruningChore({ keptMs: day })])
        onTestFinished(stop)
        clock.advance(2 * day)
        await expect.poll(() => left(hub)).toEqual([1])
        look()
        expect((await mail)?.mail.body).toBe('hello')
      },
    )
})
