/** The COMMIT of a unit, and what its caller is told when the server is lost in the middle of it. */
import type { PoolClient } from 'pg'
import { HubError } from '../../base/errors.ts'
import { isPostgresRace, isPostgresSlow, postgresFault, Unsure } from '../faults.ts'
import type { PostgresTx } from './tx.ts'

/** Goes out with the statements that the work did not wait for. Where one of them failed, the server rolls back instead. */
export async function commit(client: PoolClient, tx: PostgresTx): Promise<void> {
  const { command } = await client.query('COMMIT').catch((error) => {
    throw commitFault(error)
  })
  if (command === 'COMMIT') return
  tx.throwFailure()
  throw new Error('The unit of work was rolled back.')
}

/** Also of a statement that commits itself: one that came to no end may have done so. */
export function commitFault(error: unknown): unknown {
  if (isPostgresRace(error)) return error
  const fault = postgresFault(error)
  return fault instanceof HubError && !isPostgresSlow(error) ? new Unsure(error) : fault
}
