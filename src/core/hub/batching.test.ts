/** Batches and turns: units share what they wait for, and none of them pays for another. */
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { HubError } from '../../base/errors.ts'
import { autocommit, type Tx } from '../../db/port.ts'
import { runBatched, runInTurn, type Unit } from './batching.ts'
import type { Note } from './commit.ts'

interface Numbered extends Unit {
  readonly n: number
}

const busy = () => new HubError('DB_BUSY', 'The database took too long.')

const statement = (units: readonly Numbered[]) => sql`
  SELECT pg_current_xact_id()::text AS id FROM (SELECT 100 / MIN(n) AS each FROM unnest(${units.map(({ n }) => n)}::int[]) AS n) AS least WHERE each > 0`

eachEngine('Units that come at once', (open, dialect) => {
  const start = async () => openTestHub(await (await open()).connect())

  verifies('serve.store.exhausted', 'nobody in a turn waits for a connection twice', async () => {
    const hub = await start()
    let asked = 0
    const refuse = async (): Promise<never> => {
      asked++
      throw busy()
    }
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => runInTurn(hub, ['hall'], refuse)))
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: busy() })))
    expect(asked).toBe(dialect === 'sqlite' ? 3 : 1)
    await expect(runInTurn(hub, ['hall'], refuse)).rejects.toThrow('took too long')
    expect(asked).toBe(dialect === 'sqlite' ? 4 : 2)
  })

  if (dialect === 'sqlite')
    test('are batched by the engine itself', async () => {
      const hub = await start()
      const never = async (): Promise<never[]> => Promise.reject(new Error('no statement of its own'))
      expect(await runBatched(hub, never, { rows: [], ownRows: [] }, async () => 'alone')).toBe('alone')
    })
  else {
    const batch = async (tx: Tx, _note: Note, units: readonly Numbered[]) => {
      const rows = await autocommit<{ id: string }>(tx, statement(units))
      return units.map(({ n }) => ({ n, id: rows[0]?.id, of: units.length }))
    }
    const unit = (n: number, rows: readonly string[] = [], ownRows: readonly string[] = []) => ({ n, rows, ownRows })

    test('share a transaction, in the order in which they came; never with one that wants the same row for itself', async () => {
      const hub = await start()
      const alone = async () => 'alone'
      // Two are under way at once: whoever comes meanwhile waits.
      const first = [1, 2].map((n) => runBatched(hub, batch, unit(n, [`${n}`]), alone))
      const rest = [3, 4, 5].map((n) => runBatched(hub, batch, unit(n, ['hall'], [`own ${n}`]), alone))
      expect(await runBatched(hub, batch, unit(6, ['hall'], ['own 3']), alone)).toBe('alone')
      const [one, two] = await Promise.all(first)
      expect(one).not.toEqual(two)
      const shared = await Promise.all(rest)
      expect(shared).toMatchObject([3, 4, 5].map((n) => ({ n, of: 3 })))
      expect(new Set(shared.map((done) => typeof done === 'object' && done.id)).size).toBe(1)
    })

    verifies('serve.store.batches', 'those of a batch that fails are done in turn, and fail alone', async () => {
      const hub = await start()
      let [running, most] = [0, 0]
      const order: number[] = []
      const alone = async (n: number) => {
        most = Math.max(most, ++running)
        order.push(n)
        await Promise.resolve()
        running--
        if (n === 0) throw new Error('on purpose')
        return 'alone'
      }
      const gate = [1, 2].map((n) => runBatched(hub, batch, unit(n, [`${n}`]), async () => 'gate'))
      const units = [3, 0, 5].map((n) => runBatched(hub, batch, unit(n, ['hall']), () => alone(n)))
      const outcomes = await Promise.allSettled(units)
      await Promise.all(gate)
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(outcomes[1]).toMatchObject({ reason: { message: 'on purpose' } })
      expect({ order, most }).toEqual({ order: [3, 0, 5], most: 1 })
      // A later unit is batched again.
      expect(await runBatched(hub, batch, unit(7, ['hall']), () => alone(7))).toMatchObject({ n: 7, of: 1 })
    })

    test('in turn wait for all of their rows, and leave others alone', async () => {
      const hub = await start()
      const gate = Promise.withResolvers<void>()
      const order: string[] = []
      const work = (name: string, rows: readonly string[]) =>
        runInTurn(hub, rows, async () => {
          if (name === 'first') await gate.promise
          order.push(name)
        })
      const all = [work('first', ['a']), work('second', ['b', 'a']), work('third', ['b']), work('free', ['c'])]
      await all[3]
      expect(order).toEqual(['free'])
      gate.resolve()
      await Promise.all(all)
      expect(order).toEqual(['free', 'first', 'second', 'third'])
    })
  }
})
