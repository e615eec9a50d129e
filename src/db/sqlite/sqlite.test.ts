/** One SQLite file: what is committed together, what is lost together, and who may look. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import sql, { raw } from 'sql-template-tag'
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Tx } from '../port.ts'
import { openSqlite, type SqliteDb } from './sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-sqlite-'))
let file: string
let db: SqliteDb
let count = 0

beforeEach(async () => {
  file = join(folder, `${count++}.sqlite3`)
  db = await openSqlite(file)
  await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT UNIQUE)`))
})

afterEach(() => db.close())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const addRoom = (tx: Tx, name: string) => tx.all(sql`INSERT INTO rooms (name) VALUES (${name})`)

const roomNames = async () => {
  const rows = await db.all<{ name: string }>(sql`SELECT name FROM rooms ORDER BY id`)
  return rows.map(({ name }) => name)
}

/** Each as `ok` or the message of its error. */
const outcomesOf = async (units: readonly Promise<unknown>[]) => {
  const outcomes = await Promise.allSettled(units)
  return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ok' : outcome.reason.message))
}

describe('A SQLite file', () => {
  test('checks its references', async () => {
    expect(await db.all(sql`PRAGMA journal_mode`)).toEqual([{ journal_mode: 'wal' }])
    expect(await db.tx((tx) => tx.all(sql`PRAGMA foreign_keys`))).toEqual([{ foreign_keys: 1 }])
  })

  test('is not written outside of a transaction', async () => {
    await expect(db.all(sql`INSERT INTO rooms (name) VALUES ('hall')`)).rejects.toMatchObject({ kind: 'readonly' })
  })
})

describe('Units of work that come in together', () => {
  test('are committed together', async () => {
    const before = db.stats.groups
    await Promise.all(Array.from({ length: 100 }, (_, i) => db.tx((tx) => addRoom(tx, `room ${i}`))))
    expect(db.stats.groups - before).toBe(1)
    expect(await roomNames()).toHaveLength(100)
  })

  test('join the group that is running, in the order they came, and see what it has written', async () => {
    const before = db.stats.groups
    let late: Promise<unknown> | undefined
    await db.tx(async (tx) => {
      await addRoom(tx, 'first')
      late ??= Promise.all([
        db.tx((tx) => tx.all(sql`SELECT name FROM rooms`)),
        db.tx((tx) => addRoom(tx, 'second')),
        outcomesOf([db.tx((tx) => addRoom(tx, 'first'))]),
        db.tx((tx) => addRoom(tx, 'third')),
      ])
    })
    expect(await late).toEqual([[{ name: 'first' }], [], ['UNIQUE constraint failed: rooms.name'], []])
    expect(db.stats.groups - before).toBe(1)
    expect(await roomNames()).toEqual(['first', 'second', 'third'])
  })

  test('join no group that is full', async () => {
    const before = db.stats.groups
    const units: Promise<unknown>[] = []
    const chain = async (n: number): Promise<void> => {
      await db.tx(async (tx) => {
        await addRoom(tx, `room ${n}`)
        if (n < 600) units.push(chain(n + 1))
      })
    }
    await chain(1)
    while (units.length < 599) await Promise.all(units)
    await Promise.all(units)
    expect(db.stats.groups - before).toBe(2)
    expect(await roomNames()).toHaveLength(600)
  })

  test('are committed in groups that end', async () => {
    const before = db.stats.groups
    await Promise.all(Array.from({ length: 1200 }, (_, i) => db.tx((tx) => addRoom(tx, `room ${i}`))))
    expect(db.stats.groups - before).toBe(3)
  })

  test('share a group with one that fails after it has written', async () => {
    const before = db.stats.groups
    const outcomes = await outcomesOf(
      ['a', 'b', 'c'].map((name) =>
        db.tx(async (tx) => {
          await addRoom(tx, name)
          if (name === 'b') throw new Error('on purpose')
        }),
      ),
    )
    expect(outcomes).toEqual(['ok', 'on purpose', 'ok'])
    expect(db.stats.groups - before).toBe(1)
    expect(await roomNames()).toEqual(['a', 'c'])
  })

  test('run again with savepoints if one fails after it has written, and so do the next groups', async () => {
    const runs: string[] = []
    const unit = (name: string) =>
      db.tx(async (tx) => {
        runs.push(name)
        await addRoom(tx, name)
        if (name.startsWith('bad')) throw new Error('on purpose')
      })
    expect(await outcomesOf(['a', 'bad 1', 'c'].map(unit))).toEqual(['ok', 'on purpose', 'ok'])
    expect(runs).toEqual(['a', 'bad 1', 'a', 'bad 1', 'c'])
    expect(db.stats.reruns).toBe(1)
    expect(await outcomesOf(['d', 'bad 2', 'e'].map(unit))).toEqual(['ok', 'on purpose', 'ok'])
    expect(db.stats.reruns).toBe(1)
    for (let n = 0; n < 20; n++) await unit(`f${n}`)
    expect(await outcomesOf(['g', 'bad 3'].map(unit))).toEqual(['ok', 'on purpose'])
    expect(db.stats.reruns).toBe(2)
    expect(await roomNames()).toEqual(['a', 'c', 'd', 'e', ...Array.from({ length: 20 }, (_, n) => `f${n}`), 'g'])
  })

  test('run once if one fails before it has written', async () => {
    let runs = 0
    const outcomes = await outcomesOf([
      db.tx(async (tx) => {
        runs++
        await addRoom(tx, 'a')
      }),
      db.tx(async (tx) => {
        await tx.all(sql`SELECT 1`)
        throw new Error('on purpose')
      }),
      db.tx((tx) => addRoom(tx, 'a')),
    ])
    expect(outcomes).toEqual(['ok', 'on purpose', 'UNIQUE constraint failed: rooms.name'])
    expect(runs).toBe(1)
  })

  test('all fail if the commit fails', async () => {
    await db.tx((tx) =>
      tx.all(sql`CREATE TABLE guests (room_id BIGINT REFERENCES rooms (id) DEFERRABLE INITIALLY DEFERRED)`),
    )
    const outcomes = await outcomesOf([
      db.tx((tx) => addRoom(tx, 'a')),
      db.tx((tx) => tx.all(sql`INSERT INTO guests (room_id) VALUES (99)`)),
      db.tx((tx) => addRoom(tx, 'b')),
    ])
    expect(outcomes).toEqual(Array(3).fill('FOREIGN KEY constraint failed'))
    expect(await roomNames()).toEqual([])
    await db.tx((tx) => addRoom(tx, 'c'))
    expect(await roomNames()).toEqual(['c'])
  })

  test('run again if another one took the whole transaction with it', async () => {
    await db.tx((tx) => addRoom(tx, 'hall'))
    const outcomes = await outcomesOf([
      db.tx((tx) => addRoom(tx, 'a')),
      db.tx((tx) => tx.all(sql`INSERT OR ROLLBACK INTO rooms (name) VALUES ('hall')`)),
      db.tx((tx) => addRoom(tx, 'b')),
    ])
    expect(outcomes).toEqual(['ok', 'UNIQUE constraint failed: rooms.name', 'ok'])
    expect(await roomNames()).toEqual(['hall', 'a', 'b'])
  })

  test('are told when the disk is full, and only those that were not saved', async () => {
    await db.tx((tx) => tx.all(sql`PRAGMA max_page_count = 20`))
    const large = 'x'.repeat(200_000)
    const units = [db.tx((tx) => addRoom(tx, 'a')), db.tx((tx) => addRoom(tx, large)), db.tx((tx) => addRoom(tx, 'b'))]
    await expect(units[1]).rejects.toMatchObject({ kind: 'full' })
    await Promise.all([units[0], units[2]])
    expect(await roomNames()).toEqual(['a', 'b'])
  })

  test('are not held up for ever by one that waits for something else', async () => {
    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let started = () => {}
    const stuck = new Promise<void>((resolve) => {
      started = resolve
    })
    const later = Promise.withResolvers<void>()
    const late = Promise.withResolvers<unknown>()
    const outcomes = outcomesOf([
      db.tx((tx) => addRoom(tx, 'a')),
      db.tx(async (tx) => {
        await addRoom(tx, 'stuck')
        started()
        await later.promise
        await addRoom(tx, 'too late').catch(late.resolve)
      }),
      db.tx((tx) => addRoom(tx, 'b')),
    ])
    await stuck
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await outcomes).toEqual(['ok', expect.stringContaining('waited for something other'), 'ok'])
    // Nor does it get into the transaction of another when it goes on.
    await db.tx(async (tx) => {
      await addRoom(tx, 'c')
      later.resolve()
      expect(await late.promise).toMatchObject({ message: expect.stringContaining('has ended') })
    })
    expect(await roomNames()).toEqual(['a', 'b', 'c'])
  })
})

test('The WAL is moved into the file while the program runs, and the loss of the thread that does it harms nobody', async () => {
  const size = () => statSync(file).size
  const before = size()
  const body = 'x'.repeat(4000)
  const write = async (from: number) => {
    for (let n = from; n < from + 300; n++) await db.tx((tx) => addRoom(tx, `${n} ${body}`))
  }
  await write(0)
  await expect.poll(size).toBeGreaterThan(before + 25 * body.length)
  await db.long.close()
  await write(300)
  expect(await roomNames()).toHaveLength(600)
})

test('A WAL that grew while somebody read for long is cut back little by little', async () => {
  const size = () => statSync(`${file}-wal`).size
  const [megabyte, body] = [1024 * 1024, 'x'.repeat(4000)]
  let written = 0
  const cuts: number[] = []
  // More than the thread waits for, however many pages it expects of a commit. It is cut at most once between two commits.
  const write = async () => {
    for (const until = written + 700; written < until; ) {
      const before = size()
      await db.tx((tx) => addRoom(tx, `${written++} ${body}`))
      if (size() < before) cuts.push(before - size())
    }
    await db.long.all(sql`SELECT 1`)
  }
  await db.snapshot(async (reader) => {
    await reader.all(sql`SELECT 1 FROM rooms`)
    await db.tx((tx) => tx.all(sql`CREATE TABLE loads (load BLOB)`))
    for (let n = 0; n < 24; n++)
      await db.tx((tx) => tx.all(sql`INSERT INTO loads (load) VALUES (zeroblob(${raw(String(4 * megabyte))}))`))
    await write()
  })
  // It grows on until the thread has moved it, and begins anew with the commit after that.
  expect(size()).toBeGreaterThan(90 * megabyte)
  while (cuts.length === 0) await write()
  expect(Math.max(...cuts)).toBeLessThan(20 * megabyte)
}, 20_000)

describe('A lock of another process', () => {
  test('is waited for, and the event loop stays free', async () => {
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const unit = db.tx((tx) => addRoom(tx, 'a'))
    // Reads go on, and so does everything else, until the other one lets go.
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(setImmediate)
      expect(await roomNames()).toEqual([])
    }
    other.exec('COMMIT')
    other.close()
    await unit
    expect(await roomNames()).toEqual(['a'])
  })

  test('is DB_BUSY when it does not go away', async () => {
    const impatient = await openSqlite(file, { patienceMs: 20 })
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    await expect(impatient.tx((tx) => addRoom(tx, 'a'))).rejects.toMatchObject({ code: 'DB_BUSY', kind: 'busy' })
    other.close()
    await impatient.tx((tx) => addRoom(tx, 'a'))
    await impatient.close()
  })
})
