/** More callers than connections to PostgreSQL, and all of these taken: they wait, and are told to come back; then all goes on. */
import { Client } from 'pg'
import { expect, inject, onTestFinished } from 'vitest'
import { plainMail } from '../support/mail.ts'
import { callTool, mailbox, serveHere } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

async function connect(url: string): Promise<Client> {
  const client = new Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

verifies(
  'serve.store.exhausted',
  'A pool that is exhausted makes callers wait, and tells them to come back',
  async () => {
    const admin = await connect(inject('postgresUrl'))
    const url = new URL(inject('postgresUrl'))
    url.pathname = `pool_${process.pid}`
    await admin.query(`CREATE DATABASE pool_${process.pid} TEMPLATE ${inject('postgresTemplate')} STRATEGY FILE_COPY`)
    onTestFinished(async () => void (await admin.query(`DROP DATABASE pool_${process.pid} WITH (FORCE)`)))
    const holder = await connect(url.href)
    const patient = new URL(url)
    patient.searchParams.set('connect_timeout', '1')
    const parley = await serveHere({ env: { DATABASE_URL: patient.href, DATABASE_POOL_SIZE: '3' } })
    const endpoint = `${parley.url}/agents/late/mcp`
    await mailbox(parley, 'late').send('target', 'so that both are known')

    await holder.query('BEGIN')
    await holder.query('LOCK TABLE messages IN ACCESS EXCLUSIVE MODE')
    // Calls that wait for the lock hold all connections; housekeeping may be one of them.
    const first = Promise.allSettled(
      [1, 2, 3].map((n) => mailbox(parley, `early-${n}`).send(`target-${n}`, 'patience')),
    )
    const held = async () =>
      (
        await admin.query(
          "SELECT COUNT(*)::int AS n FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'",
          [url.pathname.slice(1)],
        )
      ).rows[0].n
    await expect.poll(held, { timeout: 10_000 }).toBe(3)

    const began = performance.now()
    const busy = {
      error: {
        code: 'DB_BUSY',
        message: 'All connections to the database are in use.',
        hint: 'Try again in a moment.',
      },
    }
    const tool = callTool(endpoint, 'send_to_agent', { name: 'target', msg: 'too many' })
    const mail = plainMail(parley)
      .call('send_message', {
        project_key: 'commons',
        sender_name: 'late',
        to: ['target'],
        subject: 's',
        body_md: 'too many',
      })
      .catch((error: unknown) => error)
    const short = fetch(endpoint, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ tool: 'send_to_agent', args: { name: 'target', msg: 'too many' } }),
    })
    const ready = await fetch(`${parley.url}/health/readiness`)
    expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await tool).toMatchObject({ isError: true, structuredContent: busy })
    expect(await mail).toEqual(busy.error)
    const answer = await short
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([503, '2', busy])
    expect(performance.now() - began).toBeGreaterThan(900)

    await holder.query('ROLLBACK')
    expect((await first).filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1)
    await mailbox(parley, 'late').send('target', 'now')
    expect((await fetch(`${parley.url}/health/readiness`)).status).toBe(200)
    const target = mailbox(parley, 'target')
    expect([await target.check(), await target.check(), await target.check()].map((one) => one?.content)).toEqual([
      'so that both are known',
      'now',
      undefined,
    ])
  },
)
