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
import { type Migration, migrate, schemaState } from './migrate.ts'
import { migrations } from './migrations/all.ts'
import type { Db } from './port.ts'
import { echoing } from './statement-log.ts'

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

  const broken: Migration = { id: 3, name: 'broken', up: () => ['CREATE TABLE half (n BIGINT)', 'CREATE TABEL half'] }

  test('stays empty if a migration of the first set-up fails', async () => {
    const db = await (await open({ empty: true })).connect()
    await expect(migrate(db, [...steps, broken], clock)).rejects.toThrow(/syntax error/)
    expect(await tablesOf(db)).toEqual([])
  })

  verifies('upgrade.steps.own', 'keeps the steps before the one that fails, and nothing of that one', async () => {
    const db = await (await open({ empty: true })).connect()
    await migrate(db, steps.slice(0, 1), clock)
    await expect(migrate(db, [...steps, broken], clock)).rejects.toThrow(/syntax error/)
    expect(await applied(db)).toEqual(rows(steps))
    expect(await tablesOf(db)).toEqual(['guests', 'parley_migrations', 'rooms'])
    const mended: Migration = { ...broken, up: () => ['CREATE TABLE half (n BIGINT)'] }
    expect(await migrate(db, [...steps, mended], clock)).toEqual([{ id: 3, name: 'broken', ms: 0 }])
  })

  const upTo = (id: number): readonly Migration[] => migrations.filter((one) => one.id <= id)
  const last = Math.max(...migrations.map(({ id }) => id))
  const more = (id: number, besideFrom?: number): Migration => ({
    id,
    name: `more_${id}`,
    up: () => [`CREATE TABLE more_${id} (n BIGINT)`],
    ...(besideFrom !== undefined && { besideFrom }),
  })

  verifies(
    'upgrade.beside.runs',
    'that is newer is used if each newer migration lets this program run beside it',
    async () => {
      const db = await (await open()).connect()
      const expand = more(last + 1, last)
      const contract = more(last + 2, last + 1)
      await migrate(db, [...migrations, expand], clock)
      expect(await schemaState(db, migrations)).toBe('ahead')
      expect(await migrate(db, migrations, clock)).toEqual([])

      await migrate(db, [...migrations, expand, contract], clock)
      expect(await schemaState(db, [...migrations, expand])).toBe('ahead')
      expect(await schemaState(db, migrations)).toBe('newer')
      await expect(migrate(db, migrations, clock)).rejects.toMatchObject({ code: 'DB_SCHEMA_MISMATCH' })
    },
  )

  verifies(
    'upgrade.beside.refuses',
    'that is newer by a migration that says nothing of older nodes is refused',
    async () => {
      const db = await (await open()).connect()
      await migrate(db, [...migrations, more(last + 1)], clock)
      expect(await schemaState(db, migrations)).toBe('newer')
      await expect(migrate(db, migrations, clock)).rejects.toMatchObject({ code: 'DB_SCHEMA_MISMATCH' })
      expect(await schemaState(db, upTo(last - 1))).toBe('newer')
    },
  )

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

test('Migrations are in the order of their numbers, from 1 on, each once', () => {
  const ids = migrations.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  expect(ids[0]).toBe(1)
})
