/** Units of one lane on PostgreSQL: those that wait share a transaction, and none of them pays for another. */
import sql from 'sql-template-tag'
import { expect, inject, onTestFinished } from 'vitest'
import { openLine } from '../../../test/support/line.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { Db, Tx } from '../port.ts'
import { Lanes } from './lanes.ts'
import { openPostgres } from './postgres.ts'

async function connect(url = inject('postgresUrl')): Promise<Db> {
  const db = await openPostgres(url)
  onTestFinished(() => db.close())
  return db
}

/** A table of its own with two rooms. */
async function makeRooms(db: Db, name: string) {
  const table = sql([`rooms_${name}`])
  await db.tx((tx) => tx.all(sql`CREATE TABLE ${table} (id BIGINT PRIMARY KEY, visits BIGINT NOT NULL)`))
  onTestFinished(async () => void (await db.tx((tx) => tx.all(sql`DROP TABLE ${table}`))))
  await db.tx((tx) => tx.all(sql`INSERT INTO ${table} (id, visits) VALUES (1, 0), (2, 0)`))
  return {
    visit: (tx: Tx, id: number) => tx.change(sql`UPDATE ${table} SET visits = visits + 1 WHERE id = ${id}`),
    count: async () =>
      (await db.all<{ visits: number }>(sql`SELECT visits FROM ${table} ORDER BY id`)).map(({ visits }) => visits),
  }
}

/** A unit that keeps a lane until it is told to let go: whoever comes meanwhile is of the next group. */
function hold(db: Db, lane: string) {
  const gate = Promise.withResolvers<void>()
  const held = db.tx(() => gate.promise, { lane })
  return async () => {
    gate.resolve()
    await held
  }
}

const transaction = async (tx: Tx) =>
  (await tx.all<{ id: string }>(sql`SELECT pg_current_xact_id()::text AS id`))[0]?.id

verifies('serve.store.lanes', 'those that wait share a transaction, in the order in which they came', async () => {
  const db = await connect()
  const order: number[] = []
  const letGo = hold(db, 'hall')
  const units = Array.from({ length: 20 }, (_, n) =>
    db.tx(
      async (tx) => {
        order.push(n)
        return transaction(tx)
      },
      { lane: 'hall' },
    ),
  )
  const other = db.tx(transaction, { lane: 'attic' })
  await other
  await letGo()
  const used = new Set(await Promise.all(units))
  expect(used.size).toBe(1)
  expect(used).not.toContain(await other)
  expect(order).toEqual(units.map((_, n) => n))
})

verifies('serve.store.lanes', 'one that fails fails alone: by an error of its own, or by a statement', async () => {
  const db = await connect()
  const { visit, count } = await makeRooms(db, 'failing')
  const letGo = hold(db, 'hall')
  const works: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => visit(tx, 1),
    async (tx) => {
      await visit(tx, 1)
      throw new Error('on purpose')
    },
    async (tx) => {
      await visit(tx, 1)
      await tx.all(sql`SELECT 1 / 0`)
    },
    async (tx) => {
      await visit(tx, 1)
      tx.enqueue(sql`SELECT 1 / 0`)
    },
    // This one leaves nothing behind: the group would not have to run again for it.
    async (tx) => {
      await transaction(tx)
      throw new Error('without a trace')
    },
    (tx) => visit(tx, 1),
  ]
  const outcomes = Promise.allSettled(works.map((work) => db.tx(work, { lane: 'hall' })))
  await letGo()
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
    'rejected',
    'fulfilled',
  ])
  expect((await outcomes)[1]).toMatchObject({ reason: { message: 'on purpose' } })
  expect(await count()).toEqual([2, 0])
})

verifies('serve.store.lanes', 'one that fails before it has written leaves the others together', async () => {
  const db = await connect()
  const letGo = hold(db, 'hall')
  const units = Promise.allSettled(
    [0, 1, 2].map((n) =>
      db.tx(
        async (tx) => {
          const id = await transaction(tx)
          if (n === 1) throw new Error('on purpose')
          return id
        },
        { lane: 'hall' },
      ),
    ),
  )
  await letGo()
  const [first, failed, last] = await units
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'on purpose' } })
  expect(first).toMatchObject({ status: 'fulfilled', value: expect.any(String) })
  expect(last).toEqual(first)
})

verifies('serve.store.lanes', 'groups that wait for each other let go, and all units are done', async () => {
  const db = await connect()
  const { visit, count } = await makeRooms(db, 'crossing')
  const [north, south] = [hold(db, 'north'), hold(db, 'south')]
  const met = Promise.withResolvers<void>()
  let arrived = 0
  // Each group holds one room before its next unit asks for the other's.
  const unit = (lane: string, id: number) =>
    db.tx(
      async (tx) => {
        await visit(tx, id)
        if (++arrived === 2) met.resolve()
        await met.promise
      },
      { lane },
    )
  const units = [unit('north', 1), unit('north', 2), unit('south', 2), unit('south', 1)]
  await Promise.all([north(), south()])
  await Promise.all(units)
  expect(await count()).toEqual([2, 2])
})

verifies('serve.store.lanes', 'a group that is lost during its commit is not run again', async () => {
  const line = await openLine(inject('postgresUrl'), (work) => onTestFinished(async () => void (await work())))
  const db = await connect(line.url)
  const letGo = hold(db, 'hall')
  const runs = [0, 0]
  const units = Promise.allSettled(
    runs.map((_, n) =>
      db.tx(
        async (tx) => {
          runs[n] = (runs[n] ?? 0) + 1
          await transaction(tx)
          // The last one: its COMMIT goes out into nothing.
          if (n === 1) line.cut()
        },
        { lane: 'hall' },
      ),
    ),
  )
  await letGo()
  for (const outcome of await units)
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'DB_BUSY', message: expect.stringContaining('may be saved or not') },
    })
  expect(runs).toEqual([1, 1])
})

verifies('serve.store.exhausted', 'nobody of a lane waits for a connection twice', async () => {
  let asked = 0
  const refuse = async (): Promise<never> => {
    asked++
    await Promise.resolve()
    throw new Error('no connection')
  }
  const lanes = new Lanes({ once: refuse, alone: refuse })
  const outcomes = await Promise.allSettled([1, 2, 3].map((n) => lanes.run('hall', async () => n)))
  expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: new Error('no connection') })))
  expect(asked).toBe(1)
  await expect(lanes.run('hall', async () => 4)).rejects.toThrow('no connection')
  expect(asked).toBe(2)
})
