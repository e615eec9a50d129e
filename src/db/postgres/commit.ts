/** The COMMIT of a unit, and what its caller is told when the server is lost in the middle of it. */
import type { ClientBase, PoolClient } from 'pg'
import { HubError } from '../../base/errors.ts'
import { isPostgresRace, isPostgresSlow, postgresFault, Unconfirmed, Unsure } from '../faults.ts'
import type { PostgresTx } from './tx.ts'

/** Goes out with the statements that the work did not wait for. Where one of them failed, the server rolls back instead. */
export async function commit(client: PoolClient, tx: PostgresTx): Promise<void> {
  const { command } = await client.query('COMMIT').catch((error) => {
    throw commitFault(error)
  })
  if (command === 'COMMIT' && tx.failure === undefined) return needStandby(client)
  tx.throwFailure()
  throw new Error('The unit of work was rolled back.')
}

/** Also of a statement that commits itself: one that came to no end may have done so. */
export function commitFault(error: unknown): unknown {
  if (isPostgresRace(error)) return error
  const fault = postgresFault(error)
  return fault instanceof HubError && !isPostgresSlow(error) ? new Unsure(error) : fault
}

/** Connections whose server said that it waited for a standby no longer. */
const unconfirmed = new WeakSet<ClientBase>()

/**
 * With synchronous replication a COMMIT waits for a standby. Cancelled, as by `pg_cancel_backend`, it answers as if all were well, and
 * tells in a notice alone that the standby may not have it: the work would go with this server.
 */
export function watchStandby(client: ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === 'SyncRepWaitForLSN') unconfirmed.add(client)
  })
}

/** Throws where the commit that has just ended is on one server only, and should be on two. */
export function needStandby(client: ClientBase): void {
  if (unconfirmed.delete(client)) throw new Unconfirmed()
}
