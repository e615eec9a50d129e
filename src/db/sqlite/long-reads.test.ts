/** Reads in a thread of their own: they hold up nobody, fail as others do, and end with the database. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import sql from 'sql-template-tag'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from './sqlite.ts'

async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-long-'))
  const db = await openSqlite(join(folder, 'parley.sqlite3'))
  onTestFinished(async () => {
    await db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (name TEXT)`))
  return db
}

/** Counts in SQLite: some tens of milliseconds for a million. */
const countTo = (n: number) => sql`
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) SELECT COUNT(*) AS count FROM n`

test('A long read sees what was committed before it, and the event loop turns meanwhile', async () => {
  const db = await open()
  for (const name of ['hall', 'attic']) await db.tx((tx) => tx.all(sql`INSERT INTO rooms (name) VALUES (${name})`))
  expect(await db.long.all(sql`SELECT name FROM rooms WHERE name <> ${'attic'}`)).toEqual([{ name: 'hall' }])
  let counted: unknown
  const counting = db.long.all(countTo(1_000_000)).then((rows) => {
    counted = rows
  })
  let turns = 0
  while (counted === undefined) {
    await turn()
    turns++
  }
  await counting
  expect(counted).toEqual([{ count: 1_000_000 }])
  expect(turns).toBeGreaterThan(10)
})

test('A long read that fails says what another would, and the next one is answered', async () => {
  const db = await open()
  await expect(db.long.all(sql`INSERT INTO rooms (name) VALUES ('hall')`)).rejects.toMatchObject({ kind: 'readonly' })
  await expect(db.long.all(sql`SELECT cellar FROM rooms`)).rejects.toThrow('no such column')
  expect(await db.long.all(sql`SELECT COUNT(*) AS count FROM rooms`)).toEqual([{ count: 0 }])
})

test('Long reads of one turn are answered each for itself, also where some of them fail', async () => {
  const db = await open()
  const answers = await Promise.allSettled([
    db.long.all(sql`SELECT 1 AS n`),
    db.long.all(sql`SELECT cellar FROM rooms`),
    db.long.all(countTo(300_000)),
    db.long.all(sql`SELECT 2 AS n`),
  ])
  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'failed'))).toEqual([
    [{ n: 1 }],
    'failed',
    [{ count: 300_000 }],
    [{ n: 2 }],
  ])
})

test('A long read ends when the database is closed', async () => {
  const db = await open()
  const counting = db.long.all(countTo(20_000_000))
  const refused = expect(counting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  await db.close()
  await refused
  await expect(db.long.all(sql`SELECT 1`)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
})

/** A module with this text, in a folder of the test. */
function moduleOf(text: string): URL {
  const folder = mkdtempSync(join(tmpdir(), 'parley-look-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'look.mjs'), text)
  return pathToFileURL(join(folder, 'look.mjs'))
}

const looking = `
  const query = (text) => ({ strings: [text], values: [], get sql() { return text } })
  export async function look(db, { wait }) {
    const count = async () => (await db.all(query('SELECT COUNT(*) AS count FROM rooms')))[0].count
    const before = await count()
    if (wait !== undefined) {
      Atomics.store(wait, 0, 1)
      Atomics.wait(wait, 1, 0)
    }
    return { before, after: await count() }
  }`

test('A look reads as of one moment', async () => {
  const db = await open()
  const wait = new Int32Array(new SharedArrayBuffer(8))
  const found = db.long.look(moduleOf(looking), { wait })
  while (Atomics.load(wait, 0) === 0) await turn()
  await db.tx((tx) => tx.all(sql`INSERT INTO rooms (name) VALUES ('hall')`))
  Atomics.store(wait, 1, 1)
  Atomics.notify(wait, 1)
  expect(await found).toEqual({ before: 0, after: 0 })
  expect(await db.long.look(moduleOf(looking), {})).toMatchObject({ before: 1, after: 1 })
})

test('A look that fails says why, and leaves no transaction behind', async () => {
  const db = await open()
  const failing = moduleOf(`export const look = async (db) => { throw new Error('no such room') }`)
  await expect(db.long.look(failing, {})).rejects.toThrow('no such room')
  await db.tx((tx) => tx.all(sql`INSERT INTO rooms (name) VALUES ('hall')`))
  expect(await db.long.look(moduleOf(looking), {})).toMatchObject({ before: 1, after: 1 })
})
