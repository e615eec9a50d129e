/** Two nodes on one PostgreSQL under traffic: one of them is killed, or the database is; nothing is lost, doubled or out of order. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { expect } from 'vitest'
import { httpPeer } from '../support/bus.ts'
import { agents, openCrowd } from '../support/nodes.ts'
import { openDialogue } from '../support/nodes-post.ts'
import { type Later, mailbox, type Parley, share, startParley, waitingCalls } from '../support/parley.ts'
import { startPostgres } from '../support/postgres.ts'
import { verifies } from '../support/verifies.ts'

/** Of traffic before the fault, and as much after it: NODES_SECONDS=30 npm test -- test/scenarios/nodes.test.ts */
const halfMs = 1000 * Number(process.env.NODES_SECONDS ?? 0.5)
const limitMs = 60_000 + 4 * halfMs

/** A server of its own: others must not feel it die. */
const postgres = share(async (later) => {
  const server = await startPostgres()
  later(() => server.stop())
  return server
})

let databases = 0

async function startNodes(later: Later): Promise<{ nodes: [Parley, Parley]; url: string }> {
  const url = new URL(postgres().url)
  const admin = new Client(url.href)
  await admin.connect()
  url.pathname = `nodes_${++databases}`
  await admin.query(`CREATE DATABASE nodes_${databases}`)
  // As an operator has it: the servers of tests are in a hurry.
  await admin.query(`ALTER DATABASE nodes_${databases} SET synchronous_commit = on`)
  await admin.end()
  const env = { DATABASE_URL: url.href, SECRET_KEY: 'one key for both of the nodes', MAILBOX_MAX_DEPTH: '1000000' }
  const nodes = await Promise.all([startParley({ env, later }), startParley({ env, later })])
  return { nodes, url: url.href }
}

/** Traffic, the fault in the middle of it, as much traffic again, and the reckoning; then `after`, when nobody waits any more. */
async function under(fault: (nodes: readonly [Parley, Parley]) => Promise<void>, after: typeof fault = async () => {}) {
  const ends: (() => Promise<unknown>)[] = []
  try {
    const { nodes, url } = await startNodes((work) => ends.push(work))
    const crowd = await openCrowd(nodes)
    const dialogue = await openDialogue(nodes)
    await crowd.goOn()
    await sleep(halfMs)
    await fault(nodes)
    await crowd.goOn()
    await sleep(halfMs)
    await Promise.all([crowd.finish(), dialogue.finish()])
    await after(nodes)
    const client = new Client(url)
    await client.connect()
    const { rows } = await client.query(`
      SELECT a.name, a.unread::int AS unread, COUNT(d.id)::int AS counted FROM agents a
      LEFT JOIN deliveries d ON d.recipient_id = a.id AND d.read_at IS NULL GROUP BY a.id`)
    await client.end()
    expect(rows.filter(({ name }) => name.startsWith('agent-'))).toHaveLength(agents)
    for (const { unread, counted } of rows) expect(unread).toBe(counted)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

verifies(
  'serve.nodes.killed',
  'twenty agents write to each other, and one of the nodes is killed',
  async () => {
    await under(async ([one]) => void (await one.end('SIGKILL')))
  },
  limitMs,
)

verifies(
  ['serve.nodes.database', 'all.wait.other-process'],
  'twenty agents write to each other, and PostgreSQL is killed and started again',
  async () => {
    await under(
      async () => {
        await postgres().kill()
        await postgres().start()
      },
      async ([one, two]) => {
        // Both nodes listen again: a wait at one ends when something is sent at the other, long before its time.
        const topic = await httpPeer(one, '?agent=ada').join('ada', 'afterwards')
        await httpPeer(two, '?agent=bob').join('bob', 'afterwards')
        const began = performance.now()
        for (const [here, there] of [
          [one, two],
          [two, one],
        ] as const) {
          await expect.poll(() => waitingCalls(there)).toBe(0)
          const mail = mailbox(there, 'zoe').check({ wait_seconds: 40 })
          await expect.poll(() => waitingCalls(there)).toBe(1)
          await mailbox(here, 'max').send('zoe', 'are you there?')
          expect(await mail).toMatchObject({ content: 'are you there?' })
        }
        const hears = httpPeer(two, '?agent=bob').sync(topic, { wait_seconds: 40 })
        await httpPeer(one, '?agent=ada').send(topic, 'hello')
        expect((await hears).received).toMatchObject([{ content_markdown: 'hello' }])
        expect(performance.now() - began).toBeLessThan(20_000)
      },
    )
  },
  limitMs,
)
