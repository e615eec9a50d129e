/** The order of the feed, when transactions of several writers overlap. */
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { catchUp, named, noting, openTx, write } from '../../../test/support/feed.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { stepProjection } from '../../core/feed/projections.ts'
import type { Db } from '../../db/port.ts'
import { findEnd, hasChangesAfter, listChangesAfter, listPending, type Recorded } from './changes.ts'
import { isBefore, start } from './positions.ts'

const listed = async (db: Db) => (await listChangesAfter(db, start, 100)).map(named)

/** A transaction of another test that ends while the changes are read hides them for that moment. */
const patient = { interval: 5, timeout: 20_000 }

eachEngine('The feed', (open, dialect) => {
  if (dialect === 'postgres') {
    verifies('feed.order.safe', 'a change that took its id first and commits last is not passed over', async () => {
      const db = await (await open()).connect()
      const [slow, fast] = [await openTx(db), await openTx(db)]
      await write(slow.tx, 'slow', 1)
      await write(fast.tx, 'fast', 1)
      await fast.commit()
      expect(await listed(db)).toEqual([])
      expect(await hasChangesAfter(db, start)).toBe(true)
      await slow.commit()
      await expect.poll(() => listed(db), patient).toEqual(['slow1', 'fast1'])
    })

    verifies('feed.order.safe', 'nor is one whose transaction began first and which took its id last', async () => {
      const db = await (await open()).connect()
      const [slow, fast] = [await openTx(db), await openTx(db)]
      await slow.tx.all(sql`SELECT pg_current_xact_id()`)
      await write(fast.tx, 'fast', 1)
      await fast.commit()
      expect(await listed(db)).toEqual([])
      await write(slow.tx, 'slow', 1)
      await slow.commit()
      await expect.poll(() => listed(db), patient).toEqual(['slow1', 'fast1'])
    })

    verifies(
      'feed.order.safe',
      'a transaction that is rolled back lets through the changes that it held up',
      async () => {
        const db = await (await open()).connect()
        const [slow, fast] = [await openTx(db), await openTx(db)]
        await write(slow.tx, 'slow', 1)
        await write(fast.tx, 'fast', 1)
        await fast.commit()
        await slow.rollback()
        await expect.poll(() => listed(db), patient).toEqual(['fast1'])
      },
    )

    verifies(
      'feed.order.database',
      'a transaction that is open in another database of the server holds up nothing',
      async () => {
        const [db, other] = [await (await open()).connect(), await (await open()).connect()]
        const elsewhere = await openTx(other)
        await write(elsewhere.tx, 'elsewhere', 1)
        const writer = await openTx(db)
        await write(writer.tx, 'writer', 1)
        await writer.commit()
        await expect.poll(() => listed(db), patient).toEqual(['writer1'])
        const [change] = await listChangesAfter(db, start, 1)
        expect(isBefore(change ?? start, await findEnd(db))).toBe(true)
        await elsewhere.commit()
      },
    )

    verifies(
      ['feed.order.safe', 'feed.order.database'],
      'while six write here and elsewhere, the end never goes back, nothing is settled behind it, and nothing is passed over',
      async () => {
        const [db, other] = [await (await open()).connect(), await (await open()).connect()]
        let over = false
        const busy = [db, db, db, db, other, other].map(async (one, by) => {
          for (let n = 1; !over; n++) await one.tx((tx) => write(tx, `writer${by}.`, n))
        })
        const seen: Recorded[] = []
        const look = async () => void seen.push(...(await listChangesAfter(db, seen.at(-1) ?? start, 1000)))
        for (let [looks, before] = [0, start]; looks < 100; looks++) {
          await look()
          const end = await findEnd(db)
          expect(isBefore(end, before) || isBefore(end, seen.at(-1) ?? start)).toBe(false)
          before = end
        }
        over = true
        await Promise.all(busy)
        const written = (await listPending(db, start)).map(named).sort()
        await expect.poll(async () => look().then(() => seen.map(named).sort()), patient).toEqual(written)
      },
    )
  }

  const writers = ['a', 'b', 'c']
  const action = fc.oneof(
    fc.record({ act: fc.constantFrom('write', 'write', 'commit', 'rollback'), by: fc.constantFrom(...writers) }),
    fc.record({ act: fc.constant('follow'), by: fc.constant('') }),
  )

  verifies(
    'feed.order.safe',
    'writers that overlap at random, and two processes with one follower: it sees every change once, each writer’s in order',
    async () => {
      const database = await open()
      const db = await database.connect()
      const hubs = [await openTestHub(db), await openTestHub(await database.connect())]
      const { follower, noted } = await noting(db)
      const follow = () => Promise.all(hubs.map((hub) => stepProjection(hub, follower)))
      await follow()
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
          await db.tx((tx) => tx.all(sql`DELETE FROM noted`))
          const committed: string[] = []
          const busy: Promise<unknown>[] = []
          const open = new Map<string, Awaited<ReturnType<typeof openWriter>>>()
          for (const [index, { act, by }] of actions.entries()) {
            const writer = open.get(by) ?? (await openWriter(db, by))
            if (act === 'follow') busy.push(follow())
            else if (act === 'write') open.set(by, await writer.write(index))
            else {
              open.delete(by)
              if (act === 'rollback') await writer.rollback()
              else committed.push(...(await writer.commit()))
            }
          }
          for (const writer of open.values()) committed.push(...(await writer.commit()))
          await Promise.all(busy)
          for (const hub of hubs) await catchUp(hub, follower)
          const seen = await noted()
          const of = (all: string[], by: string) => all.filter((change) => change.startsWith(by))
          for (const by of writers) expect(of(seen, by)).toEqual(of(committed, by))
          expect(seen).toHaveLength(committed.length)
        }),
        { numRuns: 25 },
      )
    },
    60_000,
  )

  /** On SQLite a unit is written when it is committed: its writers wait for each other. */
  async function openWriter(db: Db, by: string) {
    const written: number[] = []
    let unit: Awaited<ReturnType<typeof openTx>> | undefined
    return {
      async write(n: number) {
        written.push(n)
        if (dialect === 'postgres') {
          unit ??= await openTx(db)
          await write(unit.tx, by, n)
        }
        return this
      },
      async commit(): Promise<string[]> {
        if (dialect === 'postgres') await unit?.commit()
        else
          await db.tx(async (tx) => {
            for (const n of written) await write(tx, by, n)
          })
        return written.map((n) => `${by}${n}`)
      },
      async rollback() {
        await unit?.rollback()
      },
    }
  }
})
