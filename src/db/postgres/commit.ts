/** The COMMIT of a unit, and what its caller is told when the server is lost in the middle of it. */
import type { PoolClient } from 'pg'
import { HubError } from '../../base/errors.ts'
import { isPostgresRace, postgresFault } from '../faults.ts'
import type { PostgresTx } from './tx.ts'

/** Nobody knows whether the work is saved: it must not be run again. */
export class Unsure extends HubError {
  constructor(cause: unknown) {
    super('DB_BUSY', 'The database was lost during the commit: the work may be saved or not.', {
      hint: 'Look whether it is there before you try again.',
      cause,
    })
  }
}

/** Goes out with the statements that the work did not wait for. Where one of them failed, the server rolls back instead. */
export async function commit(client: PoolClient, tx: PostgresTx): Promise<void> {
  const { command } = await client.query('COMMIT').catch((error) => {
    throw commitFault(error)
  })
  if (command === 'COMMIT') return
  tx.throwFailure()
  throw new Error('The unit of work was rolled back.')
}

function commitFault(error: unknown): unknown {
  if (isPostgresRace(error)) return error
  const fault = postgresFault(error)
  return fault instanceof HubError ? new Unsure(error) : fault
}
