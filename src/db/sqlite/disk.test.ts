/** What is committed is on the disk before anybody is told, also where the disk fails. */
import fs, { mkdtempSync, rmSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import sql from 'sql-template-tag'
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Tx } from '../port.ts'
import type { Flush } from './disk.ts'
import { openSqlite, type SqliteDb } from './sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-disk-'))
let file: string
let db: SqliteDb
let count = 0

beforeEach(async () => {
  file = join(folder, `${count++}.sqlite3`)
  db = await openSqlite(file)
  await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (name TEXT)`))
})

afterEach(() => db.close())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const addRoom = (tx: Tx, name: string) => tx.all(sql`INSERT INTO rooms (name) VALUES (${name})`)

const roomNames = async () => {
  const rows = await db.all<{ name: string }>(sql`SELECT name FROM rooms ORDER BY rowid`)
  return rows.map(({ name }) => name)
}

/** The same file once more, as another process has it, and how often it was flushed to the disk. */
async function openFlushed(flush: Flush = () => {}) {
  const seen = { flushes: 0 }
  const flushed = await openSqlite(file, {
    flush: (handle) => {
      seen.flushes++
      flush(handle)
    },
  })
  onTestFinished(() => flushed.close())
  return { flushed, seen }
}

function spyOnFiles<Name extends 'fdatasyncSync' | 'writeSync'>(name: Name) {
  const spy = vi.spyOn(fs, name)
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return spy
}

const broken = () => {
  throw new Error('EIO: i/o error, fdatasync')
}

describe('What is committed', () => {
  test('is on the disk before anybody is told, unless all of it can be done again', async () => {
    const { flushed, seen } = await openFlushed()
    const add = (name: string, repeatable: boolean) =>
      flushed.tx(
        async (tx) => {
          await addRoom(tx, name)
          return seen.flushes
        },
        { repeatable },
      )
    await Promise.all([add('a', true), add('b', true)])
    expect(seen.flushes).toBe(0)
    expect(await Promise.all([add('c', true), add('d', false)])).toEqual([0, 0])
    expect(seen.flushes).toBe(1)
    const late: Promise<unknown>[] = []
    await flushed.tx(
      async (tx) => {
        await addRoom(tx, 'e')
        late.push(add('f', true), add('g', false))
      },
      { repeatable: true },
    )
    expect(await Promise.all(late)).toEqual([1, 1])
    expect(seen.flushes).toBe(2)
  })

  test('is on the disk, too, before somebody is told in a transaction that it is there', async () => {
    await db.tx((tx) => addRoom(tx, 'hall'))
    const { flushed, seen } = await openFlushed()
    await flushed.tx((tx) => tx.all(sql`SELECT name FROM rooms`))
    expect(seen.flushes).toBe(1)
  })

  test('is flushed by the system, in the log of the file', async () => {
    const flushed: number[] = []
    spyOnFiles('fdatasyncSync').mockImplementation((handle) => void flushed.push(fs.fstatSync(handle).ino))
    await db.tx((tx) => addRoom(tx, 'hall'))
    expect(flushed).toEqual(process.platform === 'darwin' ? [] : [statSync(`${file}-wal`).ino])
  })

  test('is flushed while others may write already', async () => {
    const outcomes: unknown[] = []
    const { flushed } = await openFlushed(() => {
      const other = new DatabaseSync(file, { timeout: 0 })
      outcomes.push(other.prepare('SELECT name FROM rooms').get()?.name)
      other.exec("INSERT INTO rooms (name) VALUES ('kitchen')")
      other.close()
    })
    await flushed.tx((tx) => addRoom(tx, 'hall'))
    expect(outcomes).toEqual(['hall'])
    expect(await roomNames()).toEqual(['hall', 'kitchen'])
  })

  test('is written once more where the disk failed once, and nobody hears of it', async () => {
    const log = `${file}-wal`
    const before: Buffer[] = []
    const { flushed, seen } = await openFlushed(() => {
      before.push(fs.readFileSync(log))
      if (before.length === 1) broken()
    })
    const write = spyOnFiles('writeSync')
    const reader = new DatabaseSync(file)
    onTestFinished(() => reader.close())
    reader.exec('BEGIN; SELECT * FROM rooms')
    await flushed.tx((tx) => addRoom(tx, 'hall'.repeat(1_000_000)))
    expect(seen.flushes).toBe(2)
    const [lost, kept] = before
    expect(kept?.length).toBeGreaterThan(4_000_000)
    expect(kept?.equals(lost ?? Buffer.alloc(0))).toBe(true)
    // The bell is a byte at the beginning of its file; the first piece is left out with it.
    const pieces = (write.mock.calls as unknown[][]).filter(([, , , , position]) => position !== 0)
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.reduce((sum, [, , , length]) => sum + Number(length), 1024 * 1024)).toBe(kept?.length)
  })

  test('is not called kept while the disk fails, not even by a transaction that only reads', async () => {
    let works = false
    const { flushed } = await openFlushed(() => {
      if (!works) broken()
    })
    await expect(flushed.tx((tx) => addRoom(tx, 'hall'))).rejects.toMatchObject({ kind: 'unkept' })
    await expect(flushed.tx(async () => {})).rejects.toMatchObject({ kind: 'unkept' })
    works = true
    await flushed.tx((tx) => addRoom(tx, 'kitchen'))
    expect(await roomNames()).toEqual(['hall', 'kitchen'])
  })

  test('is not called kept while another process keeps the log from being written once more', async () => {
    const other = new DatabaseSync(file)
    onTestFinished(() => other.close())
    let fails = true
    const { flushed } = await openFlushed(() => {
      if (!fails) return
      fails = false
      other.exec('BEGIN IMMEDIATE')
      broken()
    })
    await expect(flushed.tx((tx) => addRoom(tx, 'hall'))).rejects.toMatchObject({ kind: 'unkept' })
    other.exec('ROLLBACK')
    await flushed.tx((tx) => addRoom(tx, 'kitchen'))
    expect(await roomNames()).toEqual(['hall', 'kitchen'])
  })
})
