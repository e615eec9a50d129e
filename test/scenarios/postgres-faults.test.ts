/** The faults of PostgreSQL under load: nothing that was acknowledged is lost, and Parley recovers by itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { expect } from 'vitest'
import { type Line, openLine } from '../support/line.ts'
import { type Mail, mailbox, type Served, serveHere, share } from '../support/parley.ts'
import { startPostgres } from '../support/postgres.ts'
import { verifies } from '../support/verifies.ts'

/** A server of its own: others must not feel it die. */
const postgres = share(async (later) => {
  const server = await startPostgres()
  later(() => server.stop())
  const admin = new Client(server.url)
  // It is killed with all others.
  admin.on('error', () => {})
  await admin.connect()
  later(() => admin.end())
  return { url: server.url, admin }
})

let databases = 0

/** Between two messages of a sender. Without it there were thousands by the end, each of which is taken one by one. */
const paceMs = 5

interface Scene {
  readonly parley: Served
  readonly line: Line
  readonly database: string
}

/** Another connection to the database, past the line. */
async function straight(database: string): Promise<Client> {
  const url = new URL(postgres().url)
  url.pathname = database
  const client = new Client(url.href)
  client.on('error', () => {})
  await client.connect()
  return client
}

/**
 * Four senders write all the time while the fault strikes, passes and is over; each repeats a message until it is
 * acknowledged. Returns how long after the end of the fault the last sender was back.
 */
async function under(fault: (scene: Scene) => Promise<void>, after = async (_: Scene) => {}): Promise<number> {
  const ends: (() => Promise<unknown>)[] = []
  const later = (work: () => Promise<unknown>) => ends.push(work)
  let running = true
  try {
    const database = `faults_${++databases}`
    const admin = await straight('postgres')
    await admin.query(`CREATE DATABASE ${database}`)
    // As an operator has it: the servers of tests are in a hurry.
    await admin.query(`ALTER DATABASE ${database} SET synchronous_commit = on`)
    await admin.end()
    const url = new URL(postgres().url)
    url.pathname = database
    const line = await openLine(url.href, later)
    const parley = await serveHere({ env: { DATABASE_URL: line.url }, later })
    const scene = { parley, line, database }
    const acknowledged: string[] = []
    const senders = Array.from({ length: 4 }, async (_, n) => {
      for (let count = 0; running; ) {
        const id = `${n}-${count}`
        const sent = await mailbox(parley, `sender-${n}`)
          .send('target', id, id)
          .catch((error: { code?: string }) => {
            if (error.code !== 'DB_BUSY') throw error
          })
        if (sent !== undefined) acknowledged.push(`${n}-${count++}`)
        await sleep(sent === undefined ? 20 : paceMs)
      }
    })
    const all = Promise.all(senders)
    all.catch(() => {})
    /** Until each sender has one more acknowledged. */
    const more = async (from = acknowledged.length) => {
      const heard = () => new Set(acknowledged.slice(from).map((id) => id.split('-')[0])).size
      await expect.poll(heard, { timeout: 20_000 }).toBe(4)
    }
    await more()
    await fault(scene)
    const over = performance.now()
    await Promise.race([more(), all])
    const tookMs = performance.now() - over
    await after(scene)
    running = false
    await all
    const received: string[] = []
    const target = mailbox(parley, 'target')
    for (let mail: Mail | null = await target.check(); mail !== null; mail = await target.check())
      received.push(mail.content)
    expect(received.length).toBe(new Set(received).size)
    expect(received.toSorted()).toEqual(acknowledged.toSorted())
    expect((await fetch(`${parley.url}/health/readiness`)).status).toBe(200)
    return tookMs
  } finally {
    running = false
    for (const end of ends.reverse()) await end()
  }
}

verifies('serve.store.faults', 'PostgreSQL is killed, and starts anew', async () => {
  await under(async ({ database }) => {
    const client = await straight(database)
    const { rows } = await client.query('SELECT pid FROM pg_stat_activity WHERE datname = $1 LIMIT 1', [database])
    // The death of one of its processes takes all others down; then it recovers from its log.
    process.kill(rows[0].pid, 'SIGKILL')
    await client.end().catch(() => {})
  })
})

/** Most of each is waiting: they run at once, each with a database of its own. */
const scenes: Readonly<Record<string, () => Promise<unknown>>> = {
  'every connection is terminated, again and again': () =>
    under(async ({ database }) => {
      const client = await straight(database)
      for (let n = 0; n < 5; n++) {
        await client.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
          [database],
        )
        await sleep(100)
      }
      await client.end()
    }),
  'the line is cut, and mended': () =>
    under(async ({ line, parley }) => {
      line.cut()
      await expect.poll(async () => (await fetch(`${parley.url}/health/readiness`)).status).toBe(503)
      line.mend()
    }),
  'tables are locked by somebody else: callers are told in time, and go on once they are free': () =>
    under(async ({ database, parley }) => {
      const client = await straight(database)
      await client.query('BEGIN')
      await client.query('LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE')
      const start = performance.now()
      await expect(mailbox(parley, 'other').send('target-2', 'x')).rejects.toMatchObject({ code: 'DB_BUSY' })
      expect(performance.now() - start).toBeLessThan(12_000)
      await client.query('ROLLBACK')
      await client.end()
    }),
  'PostgreSQL falls silent, and another takes over: calls and wake-ups are back within 15 s': silence,
}

verifies(
  ['serve.store.faults', 'serve.store.silent'],
  'connections are terminated, the line is cut, tables are locked, PostgreSQL falls silent',
  async () => {
    const failed: string[] = []
    const act = async ([name, scene]: [string, () => Promise<unknown>]) => {
      await scene().catch((error: unknown) => failed.push(`${name}: ${error instanceof Error ? error.stack : error}`))
    }
    await Promise.all(Object.entries(scenes).map(act))
    expect(failed).toEqual([])
  },
  60_000,
)

async function silence(): Promise<void> {
  let [over, woken] = [0, 0]
  const backMs = await under(
    async ({ parley, line }) => {
      await mailbox(parley, 'waiter').check()
      line.silence()
      await expect
        .poll(async () => (await fetch(`${parley.url}/health/readiness`)).status, { timeout: 5_000 })
        .toBe(503)
      line.mend()
      over = performance.now()
    },
    async ({ parley, database }) => {
      // Another node: its wake-ups come over the connection that fell silent too.
      const url = new URL(postgres().url)
      url.pathname = database
      const node = await serveHere({ env: { DATABASE_URL: url.href }, later: () => {} })
      for (;;) {
        const abort = new AbortController()
        const mail = mailbox(parley, 'waiter').check({ wait_seconds: 2 }, abort.signal)
        await sleep(200)
        await mailbox(node, 'friend').send('waiter', 'wake up')
        const asleep = sleep(1_000, undefined, { signal: abort.signal }).catch(() => {})
        if ((await Promise.race([mail, asleep])) !== undefined) break
        expect((await mail)?.content).toBe('wake up')
      }
      woken = performance.now()
      await node.stop()
    },
  )
  expect(backMs).toBeLessThan(15_000)
  expect(woken - over).toBeLessThan(15_000)
}
