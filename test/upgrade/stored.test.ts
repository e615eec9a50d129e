/** Databases of earlier releases are brought up to date by this program, on both engines. */
import { expect } from 'vitest'
import { take } from '../../src/core/mail/take.ts'
import { send } from '../../src/core/messages/send.ts'
import { migrate, schemaState } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/all.ts'
import type { Db } from '../../src/db/port.ts'
import { countRows } from '../../src/store/exports/tables.ts'
import { TestClock } from '../support/clock.ts'
import { eachEngine } from '../support/engines.ts'
import { as, now, openTestHub } from '../support/hub.ts'
import { digestOf, fillStored, type StoredDatabase, storedDatabases } from '../support/stored-databases.ts'
import { verifies } from '../support/verifies.ts'

const clock = new TestClock()

eachEngine('A stored database', (open) => {
  for (const { release, stored } of storedDatabases())
    verifies('upgrade.stored.migrates', `of ${release} keeps every row, and mail goes on`, async () => {
      const db = await (await open({ empty: true })).connect()
      await fillStored(db, stored, clock)
      expect(await schemaState(db, migrations)).toBe('behind')
      const before = await counts(db, stored)
      await migrate(db, migrations, clock)
      expect(await schemaState(db, migrations)).toBe('current')
      expect(await counts(db, stored)).toEqual(before)
      const hub = await openTestHub(db)
      await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'after the upgrade' })
      expect((await take(hub, as('bob'), now))?.mail.body).toBe('after the upgrade')
      await hub.close()
    })
})

verifies('upgrade.stored.unchanged', 'each release has the digest of its SQL, and it is the same today', () => {
  for (const { stored } of storedDatabases())
    for (const [id, digest] of Object.entries(stored.migrations)) {
      const migration = migrations.find((one) => one.id === Number(id))
      expect([id, migration && digestOf(migration)]).toEqual([id, digest])
    }
})

async function counts(db: Db, { tables }: StoredDatabase): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const name of Object.keys(tables)) found[name] = await countRows(db, name)
  return found
}
