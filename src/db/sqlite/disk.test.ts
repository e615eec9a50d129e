/** A commit is on the disk before anybody is told, also where the disk fails. */
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

function spyOnFlush() {
  const spy = vi.spyOn(fs, 'fdatasyncSync')
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
    spyOnFlush().mockImplementation((handle) => void flushed.push(fs.fstatSync(handle).ino))
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

  test('is called stored by nobody after one failed flush, and nothing more is written', async () => {
    let fails = true
    const { flushed, seen } = await openFlushed(() => {
      if (fails) broken()
    })
    const log = () => fs.readFileSync(`${file}-wal`)
    const [hall, kitchen] = [flushed.tx((tx) => addRoom(tx, 'hall')), flushed.tx((tx) => addRoom(tx, 'kitchen'))]
    await expect(hall).rejects.toMatchObject({ kind: 'unflushed' })
    await expect(kitchen).rejects.toMatchObject({ kind: 'unflushed' })
    const written = log()
    fails = false
    for (const repeatable of [false, true])
      await expect(flushed.tx((tx) => addRoom(tx, 'attic'), { repeatable })).rejects.toMatchObject({ kind: 'halted' })
    await expect(flushed.tx(async () => {})).rejects.toMatchObject({ kind: 'halted' })
    await expect(flushed.check()).rejects.toMatchObject({ kind: 'halted' })
    expect(seen.flushes).toBe(1)
    expect(log().equals(written)).toBe(true)
    // It can be read, and a start goes on with it.
    expect(await flushed.all(sql`SELECT name FROM rooms`)).toHaveLength(2)
    const { flushed: restarted } = await openFlushed()
    await restarted.tx((tx) => addRoom(tx, 'attic'))
    await restarted.check()
    expect(await roomNames()).toEqual(['hall', 'kitchen', 'attic'])
  })
})
