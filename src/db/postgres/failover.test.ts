/** A database with several servers: the one that takes writes is found, work goes on there, and what is unknown is told. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import sql from 'sql-template-tag'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { type Line, openLine } from '../../../test/support/line.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { verifies } from '../../../test/support/verifies.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { send } from '../../core/messages/send.ts'
import { migrate } from '../migrate.ts'
import { migrations } from '../migrations/all.ts'
import { autocommit, type Db, type Tx } from '../port.ts'
import { openPostgres } from './postgres.ts'

let admin: Client

beforeAll(async () => {
  admin = new Client(inject('postgresUrl'))
  await admin.connect()
})

afterAll(() => admin.end())

/** One server, reached over two lines as if it were two; with a table in a schema of its own. */
async function twoLines(more = ''): Promise<{ db: Db; one: Line; two: Line; schema: string }> {
  const schema = `test_${randomBytes(6).toString('hex')}`
  await admin.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.songs (title TEXT UNIQUE)`)
  onTestFinished(async () => void (await admin.query(`DROP SCHEMA ${schema} CASCADE`)))
  const plain = new URL(inject('postgresUrl'))
  plain.searchParams.set('options', `-csearch_path=${schema}`)
  const later = (work: () => Promise<unknown>) => onTestFinished(async () => void (await work()))
  const one = await openLine(plain.href, later)
  const two = await openLine(plain.href, later)
  const { port } = new URL(two.url)
  const db = await openPostgres(one.url.replace(/(@[^/?]+)/, `$1,127.0.0.1:${port}`) + more)
  onTestFinished(() => db.close())
  return { db, one, two, schema }
}

const titles = async (db: Db) =>
  (await db.all<{ title: string }>(sql`SELECT title FROM songs`)).map(({ title }) => title)

verifies('serve.failover.moves', 'work whose server is lost runs again at the other, and so does a read', async () => {
  const { db, one, two } = await twoLines()
  let runs = 0
  await db.tx(async (tx) => {
    await tx.all(sql`INSERT INTO songs (title) VALUES ('first')`)
    // The search may have found either of them first.
    if (++runs === 1) one.cut()
    await tx.all(sql`SELECT 1`)
  })
  expect(await titles(db)).toEqual(['first'])
  one.mend()
  two.cut()
  expect(await titles(db)).toEqual(['first'])
})

verifies('serve.failover.moves', 'who wakes others is heard again after the move', async () => {
  const { db, one, two } = await twoLines()
  const heard: string[] = []
  await db.listen((channels) => void heard.push(...(channels ?? ['all'])))
  one.cut()
  two.cut()
  await sleep(20)
  two.mend()
  await expect.poll(() => heard).toContain('all')
})

verifies('serve.failover.read-only', 'a server that only reads is left: the refused work runs again', async () => {
  const { db } = await twoLines()
  // As on a server that was demoted, and keeps its connections.
  await db.tx((tx) => tx.all(sql`SET default_transaction_read_only = on`))
  await db.tx((tx) => tx.all(sql`INSERT INTO songs (title) VALUES ('once')`))
  expect(await titles(db)).toEqual(['once'])
})

test('work is repeated however often its server is lost meanwhile', async () => {
  const { db, one, two } = await twoLines()
  const kinds = new Set<string>()
  db.observe?.({ committed() {}, reconnected() {}, retried: (kind) => void kinds.add(kind) })
  let runs = 0
  await db.tx(async (tx) => {
    await tx.all(sql`INSERT INTO songs (title) VALUES ('often')`)
    if (++runs > 6) return
    for (const line of [one, two]) line.cut()
    for (const line of [one, two]) line.mend()
    await tx.all(sql`SELECT 1`)
  })
  expect(await titles(db)).toEqual(['often'])
  expect([...kinds]).toEqual(['moved'])
})

verifies(
  'serve.failover.moves',
  'what waits for a server that was left is not waited for',
  async () => {
    const { db, one, two } = await twoLines()
    // The search may have found either of them first.
    two.cut()
    await titles(db)
    two.mend()
    const others = Promise.withResolvers<number>()
    let runs = 0
    const saved = db.tx(async (tx) => {
      await tx.all(sql`INSERT INTO songs (title) VALUES ('left')`)
      if (++runs > 1) return
      const other = db.all<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`)
      others.resolve((await other)[0]?.pid ?? 0)
      one.silence()
      await tx.all(sql`SELECT 1`)
    })
    // As a pooler whose server died: some connections end, others are silent.
    await admin.query('SELECT pg_terminate_backend($1)', [await others.promise])
    await expect.poll(() => titles(db).catch(() => ['away'])).not.toContain('away')
    await saved
    expect(await titles(db)).toEqual(['left'])
  },
  8_000,
)

test('while no server takes writes, callers wait for one as long as a connection may take', async () => {
  const { db, one, two } = await twoLines('&connect_timeout=1')
  one.cut()
  two.cut()
  await expect(titles(db)).rejects.toMatchObject({ code: 'DB_BUSY', message: 'The database cannot be reached.' })
  const waiting = titles(db)
  await sleep(200)
  two.mend()
  expect(await waiting).toEqual([])
})

verifies(
  'serve.failover.unknown',
  'a commit without an answer is told as such; work that does nothing twice runs again',
  async () => {
    const { db, one, two, schema } = await twoLines()
    // The COMMIT takes a while, and is at the server when the line is cut.
    await admin.query(`
      CREATE FUNCTION ${schema}.linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.6); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER lingers AFTER INSERT ON ${schema}.songs DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${schema}.linger()`)
    const committing = async () => {
      const lingering = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'COMMIT'"
      return (await admin.query(lingering)).rowCount
    }
    const cutDuringCommit = async (title: string, idempotent: boolean) => {
      const saved = db.tx((tx) => tx.change(sql`INSERT INTO songs (title) VALUES (${title}) ON CONFLICT DO NOTHING`), {
        idempotent,
      })
      saved.catch(() => {})
      await expect.poll(committing).toBe(1)
      for (const line of [one, two]) line.cut()
      for (const line of [one, two]) line.mend()
      return saved
    }
    await expect(cutDuringCommit('perhaps', false)).rejects.toMatchObject({
      code: 'DB_BUSY',
      message: expect.stringContaining('may be saved or not'),
    })
    await expect.poll(() => titles(db)).toEqual(['perhaps'])
    // The second run waits for the first, and finds what it has written.
    expect(await cutDuringCommit('surely', true)).toBe(0)
    await expect.poll(() => titles(db)).toEqual(['perhaps', 'surely'])
  },
)

verifies('serve.failover.unknown', 'a commit that no standby has confirmed is not taken for saved', async () => {
  // A setting of a whole server, and others share the one of the run.
  const server = await startPostgres({ durable: true })
  onTestFinished(() => server.stop())
  const connect = async () => {
    const client = new Client(server.url)
    await client.connect()
    return client
  }
  const before = await connect()
  const sendNow = (hub: Hub, body: string) => send(hub, as('ann'), { to: [{ name: 'bob' }], body })
  const first = await openPostgres(server.url)
  await migrate(first, migrations, new TestClock())
  const young = await openTestHub(first)
  await sendNow(young, 'zero')
  await young.close()
  await before.query('CREATE TABLE songs (title TEXT UNIQUE)')
  await before.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await before.end()
  await server.kill()
  await server.start()
  const admin = await connect()
  onTestFinished(() => admin.end())
  const db = await openPostgres(server.url)
  onTestFinished(() => db.close())
  const hub = await openTestHub(db)
  const insert = (title: string) =>
    sql`INSERT INTO songs (title) VALUES (${title}) ON CONFLICT DO NOTHING RETURNING title`
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
  for (const work of [(tx: Tx) => tx.all(insert('one')), (tx: Tx) => autocommit(tx, insert('two'))]) {
    // Work that may run again would find itself there, and be taken for saved.
    const refused = expect(db.tx(work, { idempotent: true })).rejects.toThrow('The standby did not confirm the commit')
    await expect.poll(async () => (await admin.query(cancel)).rowCount).toBe(1)
    await refused
  }
  expect(await titles(db)).toEqual(['one', 'two'])

  // One that lost its connection meanwhile is found again, and waits for the standby once more.
  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  const waiter = async () => (await admin.query<{ pid: number }>(waiting)).rows[0]?.pid
  const insist = async (saved: Promise<unknown>) => {
    const refused = expect(saved).rejects.toThrow('The standby did not confirm the commit')
    await expect.poll(waiter).toBeDefined()
    const lost = await waiter()
    await admin.query('SELECT pg_terminate_backend($1)', [lost])
    await expect.poll(async () => ![undefined, lost].includes(await waiter())).toBe(true)
    await admin.query(cancel)
    await refused
  }
  await insist(db.tx((tx) => tx.all(insert('three')), { idempotent: true }))
  await insist(sendNow(hub, 'one'))
})

test('what Parley cannot use is refused: a server that only reads, a URL whose password would be shown', async () => {
  const url = (attrs: string) => `postgres://me:sesame@one,two/db?target_session_attrs=${attrs}`
  for (const attrs of ['read-only', 'standby', 'any', 'prefer-standby'])
    await expect(openPostgres(url(attrs))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.not.stringContaining('sesame'),
      hint: 'Use target_session_attrs=read-write.',
    })
})
