/** A process that dies inside of a checkpoint: the file is whole only together with its log, and is taken at every step. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sql from 'sql-template-tag'
import { expect, inject, onTestFinished } from 'vitest'
import { deaths, imageOf, leaveDead, pagesOf } from '../../../test/support/checkpoints.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { lookInto } from './inspect.ts'
import { refuseForeign } from './owner.ts'
import { openSqlite } from './sqlite.ts'

const times = 200

/** A store whose log holds the header page, pages that grew the file, and pages that were there. */
async function logged() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-deaths-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'parley.sqlite3')
  copyFileSync(inject('sqliteTemplate'), file)
  const db = await openSqlite(file)
  await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (name TEXT)`))
  for (let n = 0; n < 120; n++) await db.tx((tx) => tx.all(sql`INSERT INTO rooms VALUES (${`${n} `.repeat(800)})`))
  const image = imageOf(file)
  await db.close()
  return { image, dead: join(folder, 'dead.sqlite3') }
}

const rooms = sql`SELECT COUNT(*) AS count FROM rooms`

verifies(
  'serve.store.checkpoint',
  `dies at ${times} steps of a checkpoint: the file is taken, whole, and sound`,
  async () => {
    const { image, dead } = await logged()
    expect(pagesOf(image).map(({ number }) => number)).toContain(1)
    expect(pagesOf(image).length).toBeGreaterThan(times / 4)
    for (const [n, death] of deaths(image, times).entries()) {
      leaveDead(dead, image, death)
      refuseForeign(dead)
      // As `doctor` looks.
      await lookInto(dead, async (look) => {
        // A check of every page takes most of the time.
        if (n % 8 < 2) expect(look.faults(), JSON.stringify(death)).toEqual([])
        expect(await look.all(rooms)).toEqual([{ count: 120 }])
      })
      const db = await openSqlite(dead)
      expect(await db.all(rooms)).toEqual([{ count: 120 }])
      await db.close()
    }
  },
  120_000,
)
