/** A database on PostgreSQL that goes from test to test: none sees what another has left, and whoever leaves a connection is told. */
import sql, { raw } from 'sql-template-tag'
import { expect, test } from 'vitest'
import { openDb } from '../../src/db/open.ts'
import type { Db } from '../../src/db/port.ts'
import { connectTo, giveBack, takeDatabase, urlOf } from './postgres-databases.ts'

const addProject = (db: Db) =>
  db.tx((tx) => tx.insert(sql`INSERT INTO projects (slug, human_key, created_at) VALUES ('new', 'new', 0)`))

const rowsOf = async (db: Db) => [
  await db.all(sql`SELECT * FROM projects`),
  await db.all(sql`SELECT * FROM meta ORDER BY key`),
  await db.all(sql`SELECT * FROM parley_migrations ORDER BY id`),
]

/** The answer of the work, and the name of its database. */
async function withDatabase<Found>(work: (db: Db) => Promise<Found>): Promise<{ name: string; found: Found }> {
  const name = await takeDatabase()
  const db = await connectTo(name)
  const found = await work(db)
  await db.close()
  await giveBack([name])
  return { name, found }
}

test('The next test has the rows of the migrations and no others, and the same ids', async () => {
  const use = async (db: Db) => {
    const rows = await rowsOf(db)
    const id = await addProject(db)
    await db.tx((tx) => tx.all(sql`DELETE FROM meta`))
    return { rows, id }
  }
  const [first, second] = [await withDatabase(use), await withDatabase(use)]
  expect(second).toEqual(first)
  expect(first.found.rows.map(({ length }) => length)).not.toContain(0)
})

test.for([
  'ALTER TABLE meta ADD COLUMN more TEXT',
  'CREATE TABLE more (id BIGINT)',
  'DROP INDEX deliveries_unread',
  'CREATE FUNCTION more() RETURNS INTEGER LANGUAGE sql AS $$ SELECT 1 $$',
  'ANALYZE meta',
])('Nobody gets a database after %s', async (statement) => {
  const { name } = await withDatabase((db) => db.tx((tx) => tx.all(raw(statement))))
  expect((await withDatabase(async () => {})).name).not.toBe(name)
})

test('A connection that is left open is an error, and so is one that is busy', async () => {
  const name = await takeDatabase()
  const left = await openDb(urlOf(name))
  await expect(giveBack([name], { graceMs: 50 })).rejects.toThrow('left open')
  await left.close()
  const [db, done] = [await connectTo(name), Promise.withResolvers<void>()]
  const begun = Promise.withResolvers<void>()
  const work = db.tx(async (tx) => {
    await tx.all(sql`SELECT 1`)
    begun.resolve()
    await done.promise
  })
  await begun.promise
  await expect(giveBack([name], { graceMs: 50 })).rejects.toThrow('left open')
  done.resolve()
  await work
  await db.close()
  await giveBack([name])
})

test('What was lent refuses work once it is closed, and is woken no more', async () => {
  const name = await takeDatabase()
  const [closed, other] = [await connectTo(name), await connectTo(name)]
  const heard: unknown[] = []
  await closed.listen((channels) => heard.push(channels))
  await closed.close()
  await expect(closed.all(sql`SELECT 1`)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  // It has the same connections.
  const next = await connectTo(name)
  const woken = Promise.withResolvers<unknown>()
  await next.listen(woken.resolve)
  other.announce(['somebody'])
  expect(await woken.promise).toEqual(['somebody'])
  expect(heard).toEqual([])
  for (const db of [next, other]) await db.close()
  await giveBack([name])
})
