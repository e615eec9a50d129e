/** Migrations, on both engines. */
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { TestClock } from '../../test/support/clock.ts'
import { steps } from '../../test/support/db-steps.ts'
import { eachEngine } from '../../test/support/engines.ts'
import { verifies } from '../../test/support/verifies.ts'
import { tableNames } from './dialect.ts'
import { echoing } from './echo.ts'
import { type Migration, migrate, schemaState } from './migrate.ts'
import { migrations } from './migrations/all.ts'
import type { Db } from './port.ts'

const clock = new TestClock()

eachEngine('A database', (open, dialect) => {
  const tablesOf = async (db: Db) => {
    const rows = await db.all<{ name: string }>(tableNames(db))
    return rows.map(({ name }) => name).sort()
  }

  const applied = (db: Db) => db.all(sql`SELECT id, name, applied_at FROM parley_migrations ORDER BY id`)

  const rows = (ids: readonly Migration[]) => ids.map(({ id, name }) => ({ id, name, applied_at: clock.now() }))

  test('that is empty is set up', async () => {
    const db = await (await open({ empty: true })).connect()
    expect(await schemaState(db, steps)).toBe('empty')
    await migrate(db, steps, clock)
    expect(await schemaState(db, steps)).toBe('current')
    expect(await tablesOf(db)).toEqual(['guests', 'parley_migrations', 'rooms'])
    expect(await applied(db)).toEqual(rows(steps))
  })

  test('that is behind gets what is missing, once', async () => {
    const db = await (await open({ empty: true })).connect()
    await migrate(db, steps.slice(0, 1), clock)
    expect(await schemaState(db, steps)).toBe('behind')
    await migrate(db, steps, clock)
    await migrate(db, steps, clock)
    expect(await applied(db)).toEqual(rows(steps))
    expect(await db.all(sql`SELECT name FROM rooms`)).toEqual([{ name: 'hall' }])
  })

  if (dialect === 'postgres')
    verifies('serve.store.unhurried', 'that is large has the time it needs', async () => {
      const db = await (await open({ empty: true })).connect()
      const up = () => ["CREATE TABLE limits AS SELECT current_setting('statement_timeout') AS ms"]
      await migrate(echoing(db, pino({ level: 'debug' }, { write() {} })), [{ id: 1, name: 'slow', up }], clock)
      expect(await db.all(sql`SELECT ms FROM limits`)).toEqual([{ ms: '0' }])
    })

  test('stays as it was if a migration fails', async () => {
    const db = await (await open({ empty: true })).connect()
    const broken: Migration = { id: 2, name: 'broken', up: () => ['CREATE TABLE half (n BIGINT)', 'CREATE TABEL half'] }
    await expect(migrate(db, [...steps.slice(0, 1), broken], clock)).rejects.toThrow(/syntax error/)
    expect(await tablesOf(db)).toEqual([])
  })

  test('that a newer Parley made is refused and stays as it was', async () => {
    const database = await open({ empty: true })
    const newer = await database.connect()
    await migrate(newer, steps, clock)
    await newer.close()
    const bytes = () =>
      dialect === 'sqlite' ? readFileSync(database.url.slice('sqlite:'.length)).toString('base64') : ''
    const before = bytes()

    const db = await database.connect()
    expect(await schemaState(db, steps.slice(0, 1))).toBe('newer')
    await expect(migrate(db, steps.slice(0, 1), clock)).rejects.toMatchObject({
      code: 'DB_SCHEMA_MISMATCH',
      hint: expect.stringContaining('Update'),
    })
    expect(await applied(db)).toEqual(rows(steps))
    await db.close()
    expect(bytes()).toBe(before)
  })

  test('that holds tables of another program is refused and stays as it was', async () => {
    const db = await (await open({ empty: true })).connect()
    await db.tx((tx) => tx.all(sql`CREATE TABLE songs (title TEXT)`))
    expect(await schemaState(db, steps)).toBe('foreign')
    await expect(migrate(db, steps, clock)).rejects.toMatchObject({ code: 'DB_SCHEMA_MISMATCH' })
    expect(await tablesOf(db)).toEqual(['songs'])
  })

  test('gets Parley’s own tables', async () => {
    const db = await (await open()).connect()
    expect(await schemaState(db, migrations)).toBe('current')
  })
})

test('Migrations are numbered from 1, without gaps', () => {
  expect(migrations.map(({ id }) => id)).toEqual(migrations.map((_, index) => index + 1))
})
