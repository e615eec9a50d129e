/** The number of the last acknowledged change: written after the flush, by several processes, and the highest counts. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect, onTestFinished } from 'vitest'
import { verifies } from '../../../test/support/verifies.ts'
import { AcknowledgedNumber, acknowledgedFile, readAcknowledged } from './acknowledged.ts'
import { SqliteConnection } from './connection.ts'
import type { Flush } from './disk.ts'
import { openSqlite, type SqliteDb } from './sqlite.ts'

const lastChange = sql`SELECT id, at FROM changes ORDER BY id DESC LIMIT 1`

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-acknowledged-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'parley.sqlite3')
}

async function open(file: string, flush?: Flush): Promise<SqliteDb> {
  const db = await openSqlite(file, { lastChange, ...(flush && { flush }) })
  onTestFinished(() => db.close())
  return db
}

const makeFeed = (db: SqliteDb) =>
  db.tx((tx) => tx.all(sql`CREATE TABLE IF NOT EXISTS changes (id INTEGER PRIMARY KEY AUTOINCREMENT, at BIGINT)`))

const add = (db: SqliteDb, repeatable = false) =>
  db.tx((tx) => tx.insert(sql`INSERT INTO changes (at) VALUES (7)`), { repeatable })

const numberOf = (file: string) => readAcknowledged(file)?.number

verifies(
  'serve.store.acknowledged',
  'is written once the flush is done, and for what waits for none, never',
  async () => {
    const file = newFile()
    const duringFlush: unknown[] = []
    let works = true
    const db = await open(file, () => {
      duringFlush.push(numberOf(file))
      if (!works) throw new Error('EIO: i/o error, fdatasync')
    })
    await makeFeed(db)
    expect(numberOf(file)).toBeUndefined()
    await add(db)
    await add(db, true)
    expect(numberOf(file)).toBe(1)
    await add(db)
    expect(numberOf(file)).toBe(3)
    expect(duringFlush).toEqual([undefined, undefined, 1])
    works = false
    await expect(add(db)).rejects.toMatchObject({ kind: 'unflushed' })
    expect(numberOf(file)).toBe(3)
    works = true
    await expect(add(db)).rejects.toMatchObject({ kind: 'halted' })
    expect(numberOf(file)).toBe(3)
    expect(statSync(acknowledgedFile(file)).mode).toBe(statSync(file).mode)
  },
)

verifies('serve.store.acknowledged', 'is the highest of all processes, in whatever order they write', async () => {
  const file = newFile()
  const db = await open(file)
  await makeFeed(db)
  const connection = new SqliteConnection(file, { timeout: 0 })
  const processes = Array.from({ length: 5 }, () => new AcknowledgedNumber(file, connection, lastChange))
  let seed = 1
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed
  }
  // Each has numbers that grow; those of all come in any order, more of them than there are slots, and late ones too.
  const queues = processes.map((_, n) => Array.from({ length: 400 }, (_, k) => 1 + k * processes.length + n))
  let highest = 0
  for (let left = 2000; left > 0; left--) {
    const busy = queues.map((_, n) => n).filter((n) => (queues[n]?.length ?? 0) > 0)
    const n = busy[random() % busy.length] ?? 0
    const number = queues[n]?.shift() ?? 0
    processes[n]?.write(number)
    highest = Math.max(highest, number)
    expect(numberOf(file)).toBe(highest)
  }
  for (const one of processes) one.close()
  connection.close()
  expect(statSync(acknowledgedFile(file)).size).toBeLessThanOrEqual(4096)
})

verifies('serve.store.acknowledged', 'does not count where its file is damaged', async () => {
  const file = newFile()
  const db = await open(file)
  await makeFeed(db)
  for (let n = 0; n < 3; n++) await add(db)
  const path = acknowledgedFile(file)
  const text = readFileSync(path, 'latin1')
  writeFileSync(path, text.replace('000000000000003', '900000000000004'), 'latin1')
  expect(numberOf(file)).toBe(2)
  writeFileSync(path, 'x'.repeat(100))
  expect(numberOf(file)).toBeUndefined()
})
