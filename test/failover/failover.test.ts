/** The primary of PostgreSQL is killed again and again under two nodes: nothing acknowledged is lost or doubled, and all goes on by itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Later, mailbox, type Parley, startParley } from '../support/parley.ts'
import { hasPgBouncer, type Pair, startPair } from '../support/postgres-pair.ts'
import { isBusy, openCrowd } from './crowd.ts'

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

async function killAgainAndAgain(pair: Pair, later: Later, env: Record<string, string>, name: string) {
  const settings = {
    SECRET_KEY: 'one key for both of the nodes',
    ARCHIVE_ENABLED: 'false',
    MAILBOX_MAX_DEPTH: '100000',
    ...env,
  }
  const nodes = [await startParley({ env: settings, later }), await startParley({ env: settings, later })]
  const crowd = openCrowd({
    clients,
    at: (n) => mailbox(nodes[n % nodes.length] as Parley, `client-${n}`),
    fault: (error) => (isBusy(error) ? 'DB_BUSY' : undefined),
  })
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
    `${name}: ${messages} messages, each once and in order; ${crowd.repeated.length} calls were told DB_BUSY\n`,
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
