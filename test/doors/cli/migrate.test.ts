/** `parley migrate`: what it does to a database, and what it leaves alone. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { migrate, schemaState } from '../../../src/db/migrate.ts'
import { migrations } from '../../../src/db/migrations/all.ts'
import { openDb } from '../../../src/db/open.ts'
import { parleyCommand, parleyProcess } from '../../support/cli.ts'
import { eachEngine } from '../../support/engines.ts'
import { serveHere, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const every = migrations.map(({ id, name }) => ({ id, name }))

eachEngine('migrate', (open, dialect) => {
  verifies('cli.migrate.tells', 'an empty database is set up, a second time there is nothing to do', async () => {
    const { url } = await open({ empty: true })
    if (dialect === 'sqlite') await writeFile(url.slice('sqlite:'.length), '')
    const storage = await temporaryFolder()
    const run = (...args: string[]) => parleyCommand({ storage }, ['migrate', ...args], { env: { DATABASE_URL: url } })
    const first = await run()
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(
      dialect === 'sqlite'
        ? /^\/.*\.sqlite3: applied migrations 1 \(mailbox\), 2 .*; up to date now\.\n$/
        : /^postgres\S+: applied migrations 1 \(mailbox\), 2 .*; up to date now\.\n$/,
    )
    for (const { id, name } of every) expect(first.stdout).toContain(`${id} (${name})`)
    expect((await run()).stdout).toMatch(/: up to date, there was nothing to do\.\n$/)
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject({ applied: [], up_to_date: true })
    if (dialect === 'postgres') expect(first.stdout).not.toContain(new URL(url).password)
  })
})

verifies(
  'cli.migrate.tells',
  'a database of an older Parley gets what it lacks, and a server may run beside it',
  async () => {
    const storage = await temporaryFolder()
    const file = join(storage, 'parley.sqlite3')
    const db = await openDb(`sqlite:${file}`)
    await migrate(db, migrations.slice(0, 3), systemClock)
    await db.close()
    const run = () => parleyProcess({ storage }, ['migrate'])
    const names = every.slice(3).map(({ id, name }) => `${id} (${name})`)
    const plural = names.length === 1 ? '' : 's'
    expect(await run()).toMatchObject({
      code: 0,
      stdout: `${file}: applied migration${plural} ${names.join(', ')}; up to date now.\n`,
    })
    const server = await serveHere({ storage })
    expect(await run()).toMatchObject({ code: 0, stdout: `${file}: up to date, there was nothing to do.\n` })
    await server.stop()
  },
)

verifies('cli.migrate.refuses', 'a newer database and a foreign one are named and left as they are', async () => {
  const cases = [
    { make: ['CREATE TABLE notes (text TEXT)'], reason: 'another program' },
    {
      make: [
        'CREATE TABLE parley_migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)',
        "INSERT INTO parley_migrations VALUES (9999, 'from the future', 0)",
      ],
      reason: 'a newer Parley',
    },
  ]
  for (const { make, reason } of cases) {
    const storage = await temporaryFolder()
    const file = join(storage, 'parley.sqlite3')
    execute(file, ...make)
    const before = await readFile(file)
    const run = await parleyCommand({ storage }, ['migrate'])
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/^.+\n.*DATABASE_URL.*\n$/)
    expect(run.stderr).toContain(file)
    expect(run.stderr).toContain(reason)
    expect((await readFile(file)).equals(before)).toBe(true)
  }
})

eachEngine('migrate --plan', (open) => {
  verifies('upgrade.plan.shown', 'shows each missing step, and leaves the database as it is', async () => {
    const [database, copy] = [await open({ empty: true }), await open({ empty: true })]
    const [db, other] = [await database.connect(), await copy.connect()]
    const old = migrations.filter(({ id }) => id < 19)
    for (const one of [db, other]) await migrate(one, old, systemClock)
    await other.close()
    const storage = await temporaryFolder()
    const run = (...args: string[]) =>
      parleyCommand({ storage }, ['migrate', ...args], { env: { DATABASE_URL: database.url } })
    const plan = await run('--plan')
    expect(plan).toMatchObject({ code: 0, stderr: '' })
    expect(plan.stdout).toContain(
      '-- 19 (looks): no older node can run beside it: stop them first\nALTER TABLE agents ADD COLUMN look TEXT;\n',
    )
    expect(plan.stdout).toContain('-- and a part that the program does')
    const { steps, up_to_date } = JSON.parse((await run('--plan', '--json')).stdout)
    expect([steps.map(({ id }: { id: number }) => id), up_to_date]).toEqual([
      every.map(({ id }) => id).filter((id) => id >= 19),
      false,
    ])
    const measured = JSON.parse((await run('--plan', '--json', '--on', copy.url)).stdout)
    expect(measured.steps.map(({ ms }: { ms: number }) => ms)).toEqual(steps.map(() => expect.any(Number)))
    expect((await run('--plan', '--on', database.url)).stderr).toContain('names the database itself')
    expect((await run('--on', copy.url)).stderr).toContain('--on goes with --plan')
    expect(await schemaState(db, migrations)).toBe('behind')
    expect(await run()).toMatchObject({ code: 0 })
    expect((await run('--plan')).stdout).toMatch(/: up to date, nothing would be done\.\n$/)
  })
})

function execute(file: string, ...statements: string[]): void {
  const db = new DatabaseSync(file)
  for (const statement of statements) db.exec(statement)
  db.close()
}
