/** How much more two workers read than one, on PostgreSQL. */
import { availableParallelism } from 'node:os'
import { startPostgres } from '../test/support/postgres.ts'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import type { Row } from './rows.ts'
import { makeAgents, makeDatabase } from './seed-postgres.ts'
import { type Running, startParley, startWorker } from './server.ts'
import { ratios, served, sharedCalls, takeTurns, walls, warmUp } from './turns.ts'

const connections = 64
/** Clients, the database and two workers: with fewer cores they wait for each other, and the figure tells nothing. */
const coresNeeded = 4

export async function workersRows(folder: () => string, rounds: number, say: (text: string) => void): Promise<Row[]> {
  say('one worker and two')
  const postgres = await startPostgres({ durable: true })
  const DATABASE_URL = await makeDatabase(postgres.url, 'workers')
  const env = { DATABASE_URL, SECRET_KEY: 'one key for all of them' }
  const one = await startParley(folder(), env)
  await makeAgents(DATABASE_URL)
  const two = await startParley(folder(), { ...env, HTTP_WORKERS: '2' })
  const load = startWorker<Order, Load>('load.ts')
  const ask = ({ port }: Running, call: Order['call'], seconds: number) =>
    load.ask({ port, call, era: 'plain', connections, seconds })
  // Something to read for each agent.
  await ask(one, 'mail', 2)
  const reading = (server: Running) =>
    served(server, (seconds) => ask(server, 'inbox', seconds), { what: 'fetch_inbox', warm: sharedCalls })
  try {
    const contenders = { one: reading(one), two: reading(two) }
    await warmUp(contenders)
    const seen = await takeTurns(contenders, rounds)
    const { median, low, high } = ratios(walls(seen.one), walls(seen.two))
    const cores = availableParallelism()
    const judged = cores >= coresNeeded
    return [
      {
        what: '`fetch_inbox` on PostgreSQL, two workers against one',
        measured: `${median.toFixed(2)} × the rate (${low.toFixed(2)}–${high.toFixed(2)}), on ${cores} cores`,
        target: judged ? '≥ 1.6 ×' : `(≥ 1.6 × on ${coresNeeded} cores)`,
        reached: !judged || median >= 1.6,
      },
    ]
  } finally {
    await load.stop()
    await Promise.all([one, two].map((server) => server.stop()))
    await postgres.stop()
  }
}
