/** The hub's own work, shown to callers that may steer it. */
import { isRunning } from '../../base/processes.ts'
import { listTakenChores } from '../../store/chores.ts'
import { type Hub, reader } from '../hub/hub.ts'
import type { Caller } from './callers.ts'
import { needOversight } from './rules.ts'

interface HeldChore {
  readonly name: string
  readonly holder: string
  /** Undefined while it has nothing to do: it goes on as soon as there is something. */
  readonly until: number | undefined
}

/** The housekeeping that some process holds right now, and who archives (mail.tooling.archiver). */
export async function listHeldChores(hub: Hub, caller: Caller): Promise<HeldChore[]> {
  needOversight(caller)
  const now = hub.clock.now()
  const rows = await listTakenChores(reader(hub), now)
  return rows
    .filter(({ holder, held_until }) => held_until > now || isRunning(holder) !== false)
    .map(({ name, holder, held_until }) => ({ name, holder, until: held_until > now ? held_until : undefined }))
}
