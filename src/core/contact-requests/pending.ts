/** The connection requests that wait for an agent's answer. */
import { limits } from '../../base/limits.ts'
import { listPendingTo, type PendingRow } from '../../store/contacts/connections.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import type { Agent } from '../agents/agents.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { publicIds } from '../hub/public-ids.ts'
import { addressFrom } from '../messages/addresses.ts'

export interface PendingConnection {
  readonly id: string
  readonly from: string
  readonly message: string | undefined
  /** Absent where codes are not shown, or the request has none. */
  readonly code: string | undefined
  /** Whether it has a code that is still good; one without is answered by its id. */
  readonly coded: boolean
  readonly createdAt: number
}

export async function listPendingConnections(hub: Hub, acting: Acting): Promise<PendingConnection[]> {
  const agent = await actAs(hub, acting)
  const idOf = await publicIds(hub)
  const rows = await listPendingTo(reader(hub), { toId: agent.id, now: hub.clock.now(), limit: limits.listed })
  const pending: PendingConnection[] = []
  for (const row of rows) pending.push(await toPending(hub, agent, row, idOf('contact', row.id)))
  return pending
}

/** A request as the agent that is asked sees it. */
export async function toPending(hub: Hub, agent: Agent, row: PendingRow, id: string): Promise<PendingConnection> {
  const { from_name: name, from_project: projectId, reason, code, updated_at: createdAt } = row
  const from = await addressFrom(hub, agent, { projectId, name })
  const shown = (hub.rules.contacts.codesShown && code) || undefined
  return { id, from, message: reason === '' ? undefined : reason, code: shown, coded: code !== null, createdAt }
}
