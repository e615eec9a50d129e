/** `parley db`, on both engines. */
import { closeSync, openSync, writeSync } from 'node:fs'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

eachEngine('parley db', (open, dialect) => {
  const start = async () => {
    const { url, connect } = await open()
    const storage = await temporaryFolder()
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await parleyCommand({ storage }, ['db', ...args], { env: { DATABASE_URL: url } })
      return { code, stderr, stdout, json: () => JSON.parse(stdout) as Record<string, unknown> }
    }
    const db = await connect()
    await db.tx((tx) =>
      tx.all(sql`
        INSERT INTO meta (key, value) SELECT 'k' || n, ${'x'.repeat(1000)} FROM (
          WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000) SELECT n FROM numbers
        ) AS made`),
    )
    return { url, db, run }
  }
  const metaOf = (stats: Record<string, unknown>) =>
    (stats.tables as { name: string; rows: number; bytes: number | null }[]).find(({ name }) => name === 'meta')

  verifies(
    ['cli.db.check', 'cli.db.vacuum', 'cli.db.stats'],
    'a sound database stays as it is, and shrinks',
    async () => {
      const { db, run } = await start()
      expect((await run('check', '--json')).json()).toMatchObject({ sound: true, faults: [] })
      const before = (await run('stats', '--json')).json()
      expect(metaOf(before)?.rows).toBeGreaterThanOrEqual(3000)
      expect((await run('stats')).stdout).toMatch(/meta: 3,\d+ rows/)
      await db.tx((tx) => tx.all(sql`DELETE FROM meta WHERE key LIKE 'k%'`))
      if (dialect === 'sqlite')
        expect(await run('vacuum')).toMatchObject({ code: 1, stderr: expect.stringMatching(/parley serve/) })
      await db.close()
      const { bytes_before, bytes_after } = (await run('vacuum', '--json')).json()
      expect(bytes_after).toBeLessThan(bytes_before as number)
      expect((await run('check')).stdout).toMatch(/sound/)
      expect(metaOf((await run('stats', '--json')).json())?.rows).toBeLessThan(20)
    },
  )

  if (dialect === 'sqlite')
    verifies('cli.db.check', 'names damage, and ends with exit code 1', async () => {
      const { url, db, run } = await start()
      await db.close()
      const file = openSync(url.slice('sqlite:'.length), 'r+')
      // Within the rows of the last pages.
      for (let page = 200; page < 400; page += 10) writeSync(file, Buffer.alloc(200, 255), 0, 200, page * 4096 + 8)
      closeSync(file)
      const { code, stdout } = await run('check')
      expect(code).toBe(1)
      expect(stdout).not.toMatch(/sound/)
      expect(stdout.length).toBeGreaterThan(20)
    })
})

verifies('cli.db.stats', 'without a store there is nothing to look after', async () => {
  const storage = await temporaryFolder()
  const { code, stderr } = await parleyCommand({ storage }, ['db', 'stats'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/parley serve/)
})
