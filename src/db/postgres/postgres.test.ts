/** Cases that only PostgreSQL has: a server that is away, races between writers, notices between nodes. */
import { randomBytes } from 'node:crypto'
import { Client, type PoolClient } from 'pg'
import sql from 'sql-template-tag'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { verifies } from '../../../test/support/verifies.ts'
import { autocommit, type Db, type Tx, type Wake } from '../port.ts'
import { channelsIn, PostgresNotices, payloadsOf } from './notices.ts'
import { openPostgres } from './postgres.ts'
import { Servers } from './servers.ts'
import { clientSettings } from './settings.ts'
import { PostgresStatements } from './statements.ts'
import { PostgresTx } from './tx.ts'

const server = () => new URL(inject('postgresUrl'))
let admin: Client

beforeAll(async () => {
  admin = new Client(inject('postgresUrl'))
  await admin.connect()
})

afterAll(() => admin.end())

async function newSchema(): Promise<string> {
  const schema = `test_${randomBytes(6).toString('hex')}`
  await admin.query(`CREATE SCHEMA ${schema}`)
  onTestFinished(async () => void (await admin.query(`DROP SCHEMA ${schema} CASCADE`)))
  return schema
}

async function connect(schema: string): Promise<Db> {
  const url = server()
  url.searchParams.set('options', `-csearch_path=${schema}`)
  url.searchParams.set('application_name', schema)
  const db = await openPostgres(url.href)
  onTestFinished(() => db.close())
  return db
}

/** Everything heard so far, and a way to wait until a topic was. */
async function listen(db: Db) {
  const heard: (string | undefined)[] = []
  let check = () => {}
  const wake: Wake = (topics) => {
    heard.push(...(topics ?? [undefined]))
    check()
  }
  const stop = await db.listen(wake)
  const until = (topic: string | undefined) =>
    new Promise<void>((resolve) => {
      check = () => {
        if (heard.includes(topic)) resolve()
      }
      check()
    })
  return { heard, until, stop }
}

const channelOf = async (schema: string) => {
  const { rows } = await admin.query('SELECT $1::regnamespace::oid AS oid', [schema])
  return `parley_${rows[0]?.oid}`
}

const backendsListening = async (schema: string) =>
  admin.query<{ pid: number }>('SELECT pid FROM pg_stat_activity WHERE application_name = $1', [
    await channelOf(schema),
  ])

describe('A server that cannot be used', () => {
  const attempt = async (change: (url: URL) => void) => {
    const url = server()
    change(url)
    const error = await openPostgres(url.href).then(
      () => undefined,
      (error) => error,
    )
    expect(`${error.message} ${error.hint}`).not.toContain(url.password)
    return error
  }

  test('is named when it is not there, without the password', async () => {
    const error = await attempt((url) => {
      url.port = '1'
    })
    expect(error).toMatchObject({
      code: 'DB_BUSY',
      message: 'PostgreSQL at 127.0.0.1:1/postgres cannot be reached: ECONNREFUSED.',
      hint: expect.stringContaining('DATABASE_URL'),
    })
  })

  test('is named when it refuses the password', async () => {
    const error = await attempt((url) => {
      url.password = 'sesame-open'
    })
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', hint: expect.stringContaining('password') })
  })

  test('is named when it has no such database', async () => {
    const error = await attempt((url) => {
      url.pathname = '/nowhere'
    })
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('nowhere') })
  })

  test('is not quoted when its URL makes no sense', async () => {
    const error = await openPostgres('postgres://me:sesame@[::bad/x').catch((error) => error)
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(JSON.stringify([error, error.message, error.cause])).not.toContain('sesame')
  })
})

describe('Work that runs at the same time', () => {
  test('is run again when it was the victim of a deadlock', async () => {
    const db = await connect(await newSchema())
    await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (id BIGINT PRIMARY KEY, visits BIGINT NOT NULL)`))
    await db.tx((tx) => tx.all(sql`INSERT INTO rooms (id, visits) VALUES (1, 0), (2, 0)`))
    const met = Promise.withResolvers<void>()
    let runs = 0
    const visit = (first: number, second: number) =>
      db.tx(async (tx) => {
        await tx.all(sql`UPDATE rooms SET visits = visits + 1 WHERE id = ${first}`)
        // Each holds one room before it asks for the other's.
        if (++runs === 2) met.resolve()
        await met.promise
        await tx.all(sql`UPDATE rooms SET visits = visits + 1 WHERE id = ${second}`)
      })
    await Promise.all([visit(1, 2), visit(2, 1)])
    expect(runs).toBeGreaterThan(2)
    expect(await db.all(sql`SELECT visits FROM rooms`)).toEqual([{ visits: 2 }, { visits: 2 }])
  })

  test('all gets its turn when there is more of it than connections', async () => {
    const db = await connect(await newSchema())
    const rows = await Promise.all(
      Array.from({ length: 100 }, (_, i) => db.tx((tx) => tx.all(sql`SELECT ${i}::int AS i`))),
    )
    expect(rows.flat()).toEqual(Array.from({ length: 100 }, (_, i) => ({ i })))
  })

  test('is not taken for saved when a statement failed that it did not wait for', async () => {
    const db = await connect(await newSchema())
    await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (id BIGINT PRIMARY KEY)`))
    const unit = db.tx(async (tx) => {
      await tx.all(sql`INSERT INTO rooms (id) VALUES (1)`)
      tx.all(sql`INSERT INTO rooms (id) VALUES (1)`).catch(() => {})
    })
    await expect(unit).rejects.toMatchObject({ kind: 'unique' })
    expect(await db.all(sql`SELECT id FROM rooms`)).toEqual([])
  })

  verifies('serve.store.unhurried', 'has a limit to each statement, unless it is unhurried', async () => {
    const db = await connect(await newSchema())
    const limits = async (tx: Tx) => {
      const rows = await tx.all<{ limit: string }>(sql`
        SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout') AS limit`)
      return rows[0]?.limit
    }
    expect(await db.tx(limits)).toBe('8s 9s')
    expect(await db.tx(limits, { unhurried: true })).toBe('0 0')
    expect(await db.tx(limits)).toBe('8s 9s')
    const slow = db.tx(async (tx) => {
      await tx.all(sql`SET LOCAL statement_timeout = 20`)
      await tx.all(sql`SELECT pg_sleep(5)`)
    })
    await expect(slow).rejects.toMatchObject({ code: 'DB_BUSY', message: 'The database took too long.' })
  })

  test('is DB_BUSY when its connection breaks, and the next finds a new one', async () => {
    const schema = await newSchema()
    const db = await connect(schema)
    const broken = db.tx(async (tx) => {
      const [row] = await tx.all<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`)
      await admin.query('SELECT pg_terminate_backend($1)', [row?.pid])
      await tx.all(sql`SELECT 1`)
    })
    await expect(broken).rejects.toMatchObject({ code: 'DB_BUSY', kind: 'busy' })
    expect(await db.tx((tx) => tx.all(sql`SELECT 1 AS one`))).toEqual([{ one: 1 }])
  })
})

describe('A node', () => {
  test('hears what another announces, however much at once', async () => {
    const schema = await newSchema()
    const [here, there] = [await connect(schema), await connect(schema)]
    const { heard, until } = await listen(here)
    const topics = Array.from({ length: 900 }, (_, i) => `thread/${i}/${'é'.repeat(20)}`)
    for (const topic of topics) there.announce([topic])
    there.announce(['last'])
    await until('last')
    expect(heard).toEqual([...topics, 'last'])
  })

  test('sends what it announced before it closes', async () => {
    const schema = await newSchema()
    const [here, there] = [await connect(schema), await connect(schema)]
    const { until } = await listen(here)
    there.announce(['goodbye'])
    await there.close()
    await until('goodbye')
  })

  test('does not hear another schema', async () => {
    const schema = await newSchema()
    const [here, near, far] = [await connect(schema), await connect(schema), await connect(await newSchema())]
    const { heard, until } = await listen(here)
    far.announce(['far'])
    await far.close()
    near.announce(['near'])
    await until('near')
    expect(heard).toEqual(['near'])
  })

  test('is told to look when its connection broke and is back, and hears again', async () => {
    const schema = await newSchema()
    const [here, there] = [await connect(schema), await connect(schema)]
    const { until } = await listen(here)
    const { rows } = await backendsListening(schema)
    expect(rows).toHaveLength(1)
    await admin.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid])
    await until(undefined)
    there.announce(['after'])
    await until('after')
  })

  verifies('serve.nodes.unannounced', 'is told to look when another has gone', async () => {
    const channel = await channelOf(await newSchema())
    const open = () =>
      new PostgresNotices(new Servers(inject('postgresUrl'), clientSettings), channel, { heartbeatMs: 20 })
    const [here, there] = [open(), open()]
    onTestFinished(() => here.close())
    let told = 0
    await here.add((channels) => {
      if (channels === undefined) told++
    })
    await there.add(() => {})
    // Each has looked around since both are there.
    const { rows } = await admin.query('SELECT now() AS now')
    const looked = async () =>
      (
        await admin.query(
          `SELECT COUNT(*)::int AS n FROM pg_stat_activity
          WHERE application_name = $1 AND state = 'idle' AND query LIKE '%pg_stat_activity%' AND query_start > $2`,
          [channel, rows[0]?.now],
        )
      ).rows[0].n
    await expect.poll(looked).toBe(2)
    expect(told).toBe(0)
    await there.close()
    await expect.poll(() => told).toBe(1)
  })

  test('is not upset by a notice that is not Parley’s', async () => {
    const schema = await newSchema()
    const db = await connect(schema)
    const { until } = await listen(db)
    await admin.query('SELECT pg_notify($1, $2)', [await channelOf(schema), '{not json'])
    await until(undefined)
  })

  test('can be closed while it waits for the server', async () => {
    const schema = await newSchema()
    const db = await connect(schema)
    const listening = db.listen(() => {})
    const closed = db.close()
    await expect(listening).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    await closed
  })
})

describe('A payload', () => {
  test('fits into a notice, whatever the topics', () => {
    const topics = Array.from({ length: 1000 }, (_, i) => `${i}-"\\${'🦜'.repeat(i % 90)}`)
    const payloads = payloadsOf(topics)
    expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8000)
    expect(payloads.flatMap(channelsIn)).toEqual(topics)
  })

  test('is for everybody when the topics are too many or too long', () => {
    expect(payloadsOf(['x'.repeat(9000)]).map(channelsIn)).toEqual([undefined])
    expect(payloadsOf(Array.from({ length: 2000 }, (_, i) => `${i}`)).map(channelsIn)).toEqual([undefined])
  })
})

test('a transaction that did not begin names the reason, and saves nothing', async () => {
  const client = new Client(inject('postgresUrl'))
  await client.connect()
  onTestFinished(() => client.end())
  const tx = new PostgresTx(client as unknown as PoolClient, new PostgresStatements(), {
    limits: '; SET LOCAL nonsense = 1',
  })
  await expect(tx.all(sql`SELECT 1`)).rejects.toThrow('nonsense')
  // One that is cancelled: the server takes the next statement by itself.
  const cancelled = {
    query: (query: unknown) =>
      query === 'BEGIN' ? Promise.reject(new Error('cancelled')) : Promise.resolve({ rows: [] }),
  }
  const alone = new PostgresTx(cancelled as unknown as PoolClient, new PostgresStatements())
  await expect(alone.all(sql`SELECT 1`)).rejects.toThrow('may be saved or not')
})

verifies(
  'upgrade.beside.statements',
  'prepared statements of a running node outlive a change of their tables',
  async () => {
    const [old, migrating] = await newSchema().then((schema) => Promise.all([connect(schema), connect(schema)]))
    await migrating.tx((tx) => tx.all(sql`CREATE TABLE songs (title TEXT)`))
    const read = () => old.all(sql`SELECT * FROM songs`)
    const write = () => old.tx((tx) => tx.all(sql`INSERT INTO songs (title) VALUES ('one') RETURNING *`))
    const alone = () => old.tx((tx) => autocommit(tx, sql`INSERT INTO songs (title) VALUES ('two') RETURNING *`))
    // On several connections of the pool.
    await Promise.all([read, read, write, alone].map((one) => one()))
    await migrating.tx((tx) => tx.all(sql`ALTER TABLE songs ADD COLUMN year BIGINT`))
    expect(await Promise.all([write(), alone()])).toEqual([
      [{ title: 'one', year: null }],
      [{ title: 'two', year: null }],
    ])
    await migrating.tx((tx) => tx.all(sql`ALTER TABLE songs ADD COLUMN length BIGINT`))
    expect(await read()).toHaveLength(4)
  },
)
