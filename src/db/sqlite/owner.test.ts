/** Files that are not Parley's are refused, and stay as they are to the last byte. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import sql from 'sql-template-tag'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { migrate } from '../migrate.ts'
import { openDb } from '../open.ts'
import { lookAt } from './open-untouched.ts'
import { applicationId } from './owner.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-owner-'))
  file = join(folder, 'some.sqlite3')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Every file in the folder with its content; a -shm file is memory, not content. */
const everything = () =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  )

function make(...statements: string[]): void {
  const db = new DatabaseSync(file)
  for (const statement of statements) db.exec(statement)
  db.close()
}

describe('A file is refused untouched', () => {
  const refused: Record<string, () => void> = {
    'if it is the database of another program': () => make('CREATE TABLE songs (title TEXT)'),
    'if it is such a database in WAL mode': () => make('PRAGMA journal_mode = WAL', 'CREATE TABLE songs (title TEXT)'),
    'if its program was killed and all it wrote is in the WAL': () => {
      die("db.exec('PRAGMA journal_mode = WAL; CREATE TABLE songs (title TEXT)')")
      expect(readdirSync(folder)).toContain('some.sqlite3-wal')
    },
    'if it is no database': () => writeFileSync(file, 'Dear diary, '.repeat(100)),
    'if it is too short to be one': () => writeFileSync(file, 'x'),
    'if it is too short to have pages': () => writeFileSync(file, 'x'.repeat(200)),
    'if it begins like a database and goes on like none': () =>
      writeFileSync(file, `SQLite format 3\0${'x'.repeat(5000)}`),
  }

  test.each(Object.entries(refused))('%s', async (_title, prepare) => {
    prepare()
    const before = everything()
    await expect(openDb(`sqlite:${file}`)).rejects.toMatchObject({
      code: 'DB_SCHEMA_MISMATCH',
      message: expect.stringContaining(file),
      hint: expect.stringContaining('DATABASE_URL'),
    })
    expect(everything()).toEqual(before)
  })
})

/** A process that does this to the file, and is killed. */
function die(script: string): void {
  const whole = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]); ${script}; process.kill(process.pid, 'SIGKILL')`
  expect(() => execFileSync(process.execPath, ['-e', whole, file], { stdio: 'ignore' })).toThrow()
}

test('A file that another program left in the middle of a transaction is refused as its, with all that was committed', async () => {
  make('CREATE TABLE songs (title TEXT)', `INSERT INTO songs VALUES ('${'la'.repeat(20_000)}')`)
  // The pages go to the file before the commit: what they were is in the journal.
  die(
    `db.exec("PRAGMA cache_size = 1; BEGIN; DELETE FROM songs; CREATE TABLE notes (x); INSERT INTO notes VALUES (zeroblob(200000))")`,
  )
  expect(statSync(`${file}-journal`).size).toBeGreaterThan(0)
  await expect(openDb(`sqlite:${file}`)).rejects.toMatchObject({ message: expect.stringContaining('another program') })
  const db = new DatabaseSync(file)
  expect(db.prepare('SELECT length(title) AS length FROM songs').all()).toEqual([{ length: 40_000 }])
  db.close()
})

test('A file of a few bytes is taken where its log has the rest', async () => {
  make(`PRAGMA application_id = ${applicationId}`, 'PRAGMA journal_mode = WAL')
  die("db.exec('CREATE TABLE parley_migrations (id INTEGER PRIMARY KEY, name TEXT, applied_at BIGINT)')")
  writeFileSync(file, readFileSync(file).subarray(0, 50))
  const db = await openDb(`sqlite:${file}`)
  expect(await db.all(sql`SELECT id FROM parley_migrations`)).toEqual([])
  await db.close()
})

test('A file that another process has locked is not called unreadable', () => {
  make('PRAGMA journal_mode = WAL', 'CREATE TABLE songs (title TEXT)')
  const other = new DatabaseSync(file)
  other.exec('PRAGMA locking_mode = EXCLUSIVE; INSERT INTO songs VALUES (1)')
  expect(() => lookAt(file, (db) => db.prepare('PRAGMA application_id').get(), 0)).toThrow(/locked/)
  other.close()
})

describe('A file is taken', () => {
  const taken: Record<string, () => void> = {
    'if it is not there yet': () => {},
    'if it is empty': () => writeFileSync(file, ''),
    'if it is a database without tables': () => make('PRAGMA user_version = 7'),
    'if it has Parley’s tables but lost the mark, as after a restore from a dump': () =>
      make('CREATE TABLE parley_migrations (id INTEGER PRIMARY KEY, name TEXT, applied_at BIGINT)'),
  }

  test.each(Object.entries(taken))('%s', async (_title, prepare) => {
    prepare()
    const db = await openDb(`sqlite:${file}`)
    await migrate(db, [{ id: 1, name: 'rooms', up: () => ['CREATE TABLE rooms (name TEXT)'] }], systemClock)
    expect(await db.all(sql`SELECT name FROM rooms`)).toEqual([])
    await db.close()
    expect(readFileSync(file).toString('latin1', 68, 72)).toBe('Parl')
  })
})
