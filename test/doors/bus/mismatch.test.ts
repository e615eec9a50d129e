/** A database that Parley does not know: `parley bus` starts all the same and says so with every call. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect } from 'vitest'
import { startBus } from '../../support/bus.ts'
import { eras, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const calls = [
  ['topic_create', { name: 'x' }],
  ['topic_list', {}],
  ['topic_resolve', { name: 'x' }],
  ['topic_close', { topic_id: 'x' }],
  ['topic_reopen', { topic_id: 'x' }],
  ['topic_join', { agent_name: 'x', name: 'x' }],
  ['topic_presence', { topic_id: 'x' }],
  ['sync', { topic_id: 'x' }],
  ['cursor_reset', { topic_id: 'x', last_seq: 0 }],
] as const

const write = (file: string, sql: string) => {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

describe('A client', () => {
  verifies('bus.schema.mismatch', 'is told by every tool but ping, and the file keeps every byte', async () => {
    const makers: Record<string, (file: string) => Promise<void>> = {
      async 'a newer Parley'(file) {
        const made = await startBus({ storage: join(file, '..') })
        await made.join('a', 'kept')
        await made.client.close()
        write(file, "INSERT INTO parley_migrations (id, name, applied_at) VALUES (9999, 'of tomorrow', 0)")
      },
      async 'another program'(file) {
        // The bus that this spec was written for had tables of its own.
        write(
          file,
          "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); INSERT INTO meta VALUES ('schema_version', '5')",
        )
      },
      async 'no database'(file) {
        writeFileSync(file, 'Dear diary, today I was taken for a database.')
      },
    }
    for (const [n, [what, make]] of Object.entries(makers).entries()) {
      const storage = await temporaryFolder()
      const file = join(storage, 'parley.sqlite3')
      await make(file)
      const hash = () => createHash('sha256').update(readFileSync(file)).digest('hex')
      const before = hash()
      const bus = await startBus({ storage, era: eras[n % 2 === 0 ? 0 : 1] })
      expect(await bus.call('ping'), what).toMatchObject({ ok: true, schema_version: '6' })
      for (const [tool, args] of calls)
        await expect(bus.call(tool, args), `${tool} on ${what}`).rejects.toMatchObject({
          code: 'DB_SCHEMA_MISMATCH',
          message: expect.stringContaining(file),
          hint: expect.stringMatching(/DATABASE_URL/),
        })
      await bus.client.close()
      expect(hash(), what).toBe(before)
      expect(existsSync(`${file}-wal`), what).toBe(false)
    }
  })
})
