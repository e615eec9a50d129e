/** Which schema the bus has, as its clients know it. Parley's own migrations are counted elsewhere. */
import { HubError } from '../../base/errors.ts'
import { findMeta } from '../../store/meta.ts'
import type { Caller } from '../access/callers.ts'
import { type Hub, reader } from '../hub/hub.ts'

/** The schema version in a database that Parley made. */
const own = '6'

/** The store cannot be used, and every other tool says why. */
const refusals: ReadonlySet<string> = new Set(['DB_SCHEMA_MISMATCH', 'STORAGE_FAILED'])

/** Anybody may ask. On a database that Parley refuses to touch, it is the version that Parley would make. */
export async function findSchemaVersion(hub: Hub, _caller: Caller): Promise<string> {
  try {
    return (await findMeta(reader(hub), 'schema_version')) ?? own
  } catch (error) {
    if (error instanceof HubError && refusals.has(error.code)) return own
    throw error
  }
}
