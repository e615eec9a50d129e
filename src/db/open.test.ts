/** DATABASE_URL in all its forms. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import sql from 'sql-template-tag'
import { expect, onTestFinished, test } from 'vitest'
import { openDb } from './open.ts'
import { parseDatabaseUrl } from './url.ts'

test.each([
  ['sqlite:data/parley.sqlite3', resolve('data/parley.sqlite3')],
  ['sqlite:./parley.sqlite3', resolve('parley.sqlite3')],
  ['sqlite:/var/lib/parley.sqlite3', '/var/lib/parley.sqlite3'],
  ['sqlite:///var/lib/parley.sqlite3', '/var/lib/parley.sqlite3'],
  ['sqlite:////var/lib/parley.sqlite3', '/var/lib/parley.sqlite3'],
  ['sqlite:///./storage.sqlite3', resolve('storage.sqlite3')],
  ['sqlite:///../storage.sqlite3', resolve('../storage.sqlite3')],
  ['sqlite+aiosqlite:///./storage.sqlite3', resolve('storage.sqlite3')],
  ['sqlite+aiosqlite:///storage.sqlite3', resolve('storage.sqlite3')],
  ['sqlite+aiosqlite:////var/lib/parley.sqlite3', '/var/lib/parley.sqlite3'],
])('%s is a file', (url, file) => {
  expect(parseDatabaseUrl(url)).toEqual({ dialect: 'sqlite', file })
})

test.each([
  ['postgres://me:secret@db:5432/parley', 'postgres://me:secret@db:5432/parley'],
  ['postgresql://db/parley?sslmode=require', 'postgres://db/parley?sslmode=require'],
  ['postgresql+asyncpg://me:secret@db/parley', 'postgres://me:secret@db/parley'],
])('%s is a PostgreSQL server', (url, plain) => {
  expect(parseDatabaseUrl(url)).toEqual({ dialect: 'postgres', url: plain })
})

test.each([
  '',
  'parley.sqlite3',
  'sqlite:',
  'sqlite://',
  'sqlite::memory:',
  'sqlite://host/file',
  'postgres:parley',
  'mysql://secret@db/x',
])('"%s" is refused with the forms that are accepted', async (url) => {
  await expect(openDb(url)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.not.stringContaining('secret'),
    hint: expect.stringMatching(/sqlite:.*postgres:/),
  })
})

test('A new SQLite file and its folder are for their owner only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-open-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'deep', 'deeper', 'parley.sqlite3')
  const db = await openDb(`sqlite:${file}`)
  await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (name TEXT)`))
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  expect(modeOf(join(folder, 'deep'))).toBe('700')
  expect([file, `${file}-wal`, `${file}-shm`].map(modeOf)).toEqual(['600', '600', '600'])
  await db.close()
})

test('A file that cannot be opened is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-open-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await expect(openDb(`sqlite:${folder}`)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining(folder),
  })
})
