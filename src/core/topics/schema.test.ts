/** The version of the schema, from the table or, on a refused database, from the specification. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { HubError } from '../../base/errors.ts'
import { refusingDb } from '../../db/failing-db.ts'
import { local } from '../access/callers.ts'
import { findSchemaVersion } from './schema.ts'

eachEngine('The schema version', (open) => {
  verifies('bus.schema.version', 'is the one that the meta table has', async () => {
    const db = await (await open()).connect()
    const hub = await openTestHub(db)
    expect(await findSchemaVersion(hub, local)).toBe('6')
    await db.tx((tx) => tx.all(sql`UPDATE meta SET value = '7' WHERE key = 'schema_version'`))
    expect(await findSchemaVersion(hub, local)).toBe('7')
  })
})

verifies('bus.schema.mismatch', 'is told also on a database that is refused', async () => {
  const hub = await openTestHub(refusingDb(new HubError('DB_SCHEMA_MISMATCH', 'Not ours.')))
  expect(await findSchemaVersion(hub, local)).toBe('6')
})
