/** A node of this program on a schema that a newer one has made. */
import { expect } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { type Migration, migrate } from '../../src/db/migrate.ts'
import { migrations } from '../../src/db/migrations/all.ts'
import { parleyCommand } from '../support/cli.ts'
import { eachEngine } from '../support/engines.ts'
import { mailbox, serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const last = Math.max(...migrations.map(({ id }) => id))
const next: Migration = {
  id: last + 1,
  name: 'next',
  up: () => ['ALTER TABLE messages ADD COLUMN mood TEXT', 'CREATE TABLE moods (name TEXT PRIMARY KEY)'],
}

eachEngine('A node on the schema of the next release', (open) => {
  verifies('upgrade.beside.runs', 'serves, if the migration lets it', async () => {
    const database = await open()
    const db = await database.connect()
    await migrate(db, [...migrations, { ...next, besideFrom: last }], systemClock)
    const server = await serveHere({ env: { DATABASE_URL: database.url } })
    await mailbox(server, 'alice').send('bob', 'hello')
    expect(await mailbox(server, 'bob').check()).toMatchObject({ content: 'hello', from: 'alice' })
    await server.stop()
  })

  verifies('upgrade.beside.refuses', 'does not start else, and says what helps', async () => {
    const database = await open()
    const db = await database.connect()
    await migrate(db, [...migrations, next], systemClock)
    const storage = await temporaryFolder()
    const run = await parleyCommand({ storage }, ['projects', 'list'], { env: { DATABASE_URL: database.url } })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/was made by a newer Parley; it was not touched\.\nUpdate this Parley/)
  })
})
