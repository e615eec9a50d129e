/** The primary of PostgreSQL is killed again and again under two nodes: nothing acknowledged is lost or doubled, and all goes on by itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Later, type Mail, mailbox, type Parley, startParley } from '../support/parley.ts'
import { hasPgBouncer, type Pair, startPair } from '../support/postgres-pair.ts'

const clients = 32
const kills = 5
/** A pause may last so much longer than the failover itself, and than the longest pause just before it. */
const mostMs = 2_000

async function withPair(work: (pair: Pair, later: Later) => Promise<void>): Promise<void> {
  const ends: (() => Promise<unknown>)[] = []
  const later: Later = (end) => ends.push(end)
  try {
    await work(await startPair(later), later)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** Each client sends to the next one and waits for the one before; it repeats what was not answered well under the same id. */
function openCrowd(nodes: readonly Parley[]) {
  const sent: string[][] = Array.from({ length: clients }, () => [])
  const taken: string[][] = Array.from({ length: clients }, () => [])
  const last: number[] = Array.from({ length: clients }, () => performance.now())
  const unknown: string[] = []
  let longestMs = 0
  let [sending, taking] = [true, true]
  const at = (n: number) => mailbox(nodes[n % nodes.length] as Parley, `client-${n}`)

  async function insist<T>(call: () => Promise<T>): Promise<T> {
    for (;;)
      try {
        return await call()
      } catch (error) {
        const { code } = error as { code?: string }
        if (code !== 'DB_BUSY') throw error
        unknown.push(JSON.stringify(error))
        await sleep(20)
      }
  }
  const senders = Array.from({ length: clients }, async (_, n) => {
    for (let count = 0; sending; count++) {
      const id = `${n}-${count}`
      await insist(() => at(n).send(`client-${(n + 1) % clients}`, id, id))
      sent[n]?.push(id)
      const now = performance.now()
      longestMs = Math.max(longestMs, now - (last[n] ?? now))
      last[n] = now
      await sleep(50)
    }
  })
  const takers = Array.from({ length: clients }, async (_, n) => {
    while (taking) {
      const mail = await insist<Mail | null>(() => at(n).check({ wait_seconds: 2 }))
      if (mail !== null) taken[n]?.push(mail.content)
    }
  })
  for (const work of [...senders, ...takers]) work.catch(() => {})
  return {
    unknown,
    /** Until each client has had something more acknowledged. */
    async goOn() {
      const before = sent.map(({ length }) => length)
      await expect
        .poll(() => sent.filter(({ length }, n) => length <= (before[n] ?? 0)).length, { timeout: 30_000 })
        .toBe(0)
    },
    /** The longest time of a client without an acknowledgement, since this was last asked. */
    longest() {
      const longest = longestMs
      longestMs = 0
      return longest
    },
    async finish() {
      sending = false
      await Promise.all(senders)
      const missing = () => sent.flat().length - taken.flat().length
      await expect.poll(missing, { timeout: 30_000 }).toBeLessThanOrEqual(0)
      taking = false
      await Promise.all(takers)
      for (let n = 0; n < clients; n++) expect(taken[(n + 1) % clients]).toEqual(sent[n])
      return sent.flat().length
    },
  }
}

async function killAgainAndAgain(pair: Pair, later: Later, env: Record<string, string>, name: string) {
  const settings = {
    SECRET_KEY: 'one key for both of the nodes',
    ARCHIVE_ENABLED: 'false',
    MAILBOX_MAX_DEPTH: '100000',
    ...env,
  }
  const nodes = [await startParley({ env: settings, later }), await startParley({ env: settings, later })]
  const crowd = openCrowd(nodes)
  await crowd.goOn()
  const beyond: number[] = []
  for (let n = 0; n < kills; n++) {
    // A busy machine has pauses of its own.
    crowd.longest()
    await sleep(1_000)
    await crowd.goOn()
    const usualMs = crowd.longest()
    const failoverMs = await pair.failOver()
    await crowd.goOn()
    const pausedMs = crowd.longest()
    beyond.push(pausedMs - failoverMs - usualMs)
    process.stderr.write(
      `${name}: failover ${Math.round(failoverMs)} ms, longest pause of a client ${Math.round(pausedMs)} ms (before: ${Math.round(usualMs)} ms)\n`,
    )
  }
  const messages = await crowd.finish()
  process.stderr.write(
    `${name}: ${messages} messages, each once and in order; ${crowd.unknown.length} calls were told DB_BUSY\n`,
  )
  expect(Math.max(...beyond)).toBeLessThan(mostMs)
}

describe('A primary that is killed five times', () => {
  test('under two nodes that know both servers', async () => {
    await withPair((pair, later) => killAgainAndAgain(pair, later, { DATABASE_URL: pair.url }, 'direct'))
  }, 180_000)

  if (!hasPgBouncer) process.stderr.write('skipped: pgbouncer is not on this machine (apt-get install pgbouncer)\n')

  test.skipIf(!hasPgBouncer)(
    'under two nodes behind a PgBouncer before each server',
    async () => {
      await withPair(async (pair, later) => {
        const DATABASE_URL = await pair.poolerUrl()
        const env = { DATABASE_URL, DATABASE_POOLER: 'transaction', DATABASE_LISTEN_URL: pair.url }
        await killAgainAndAgain(pair, later, env, 'PgBouncer')
      })
    },
    180_000,
  )

  test.skipIf(!hasPgBouncer)(
    'is not reached through a pooler that was not announced',
    async () => {
      await withPair(async (pair, later) => {
        await expect(startParley({ env: { DATABASE_URL: await pair.poolerUrl() }, later })).rejects.toThrow(
          'DATABASE_POOLER=transaction',
        )
      })
    },
    60_000,
  )
})
