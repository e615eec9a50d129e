/** Whether an agent ever did something itself: some names exist only because somebody wrote to them. */
import { isReserved } from '../../base/names.ts'
import { findActiveAt } from '../../store/agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { memory, remember } from '../hub/memory.ts'
import { activity } from './activity.ts'
import type { Agent } from './agents.ts'

/** The ids of agents that have: this stays true, and is asked for once. */
const seen = memory(() => new Map<number, true>())

/** People read the mail of their own name on the pages, and act under it only to write. */
export async function isUnseen(hub: Hub, { id, name }: Agent): Promise<boolean> {
  if (isReserved(name) || seen(hub).has(id)) return false
  const at = activity(hub).latest(id, 0) || (await findActiveAt(reader(hub), id))
  if (at === 0) return true
  remember(seen(hub), id, true)
  return false
}
