/** The hub's own work, shown to callers that may steer it. */
import { listTakenChores } from '../../store/chores.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Caller } from './callers.ts'
import { needSteering } from './rules.ts'

export interface HeldChore {
  readonly name: string
  readonly holder: string
  readonly until: number
}

/** The housekeeping that some process holds right now. */
export async function listHeldChores(hub: Hub, caller: Caller): Promise<HeldChore[]> {
  needSteering(caller)
  const rows = await listTakenChores(reader(hub), hub.clock.now())
  return rows.map(({ name, holder, held_until }) => ({ name, holder, until: held_until }))
}
