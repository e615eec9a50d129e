/** Escalation: the inbox of an agent that is late with an acknowledgement is reserved, for everybody to see. */
import { inboxPattern } from '../../archive/layout.ts'
import { nameKey } from '../../base/names.ts'
import { findAgent } from '../../store/agents/agents.ts'
import { insertProfile } from '../../store/agents/profiles.ts'
import { housekeeper } from '../access/callers.ts'
import { type Agent, findIn, known } from '../agents/agents.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { reserve } from '../leases/leases.ts'
import { needProject } from '../projects/projects.ts'
import type { Late } from './overdue.ts'

interface EscalationRules {
  /** The agent that holds such leases, in every project; the late agent itself, if there is none. */
  readonly holder: string | undefined
  readonly ttlMs: number
  readonly exclusive: boolean
}

/** A reservation that is there lasts longer. Neither of the two agents counts as active by it. */
export const reserveInbox =
  ({ holder, ttlMs, exclusive }: EscalationRules) =>
  async (hub: Hub, { name: late, project }: Late): Promise<void> => {
    const { name } = holder === undefined ? { name: late } : await ensureHolder(hub, project, holder)
    await reserve(
      hub,
      { caller: housekeeper, project, name, registered: true, unnoticed: true },
      {
        patterns: [inboxPattern(late)],
        exclusive,
        reason: `${late} is late with an acknowledgement`,
        ttlMs,
        onConflict: 'grant',
      },
    )
  }

/** The operator chose the name of the holder: no rule for the names of agents applies. */
async function ensureHolder(hub: Hub, slug: string, name: string): Promise<Agent> {
  const { id: projectId } = await needProject(hub, housekeeper, slug)
  const found = await findIn(hub, projectId, name)
  if (found !== undefined) return found
  const row = await commit(hub, housekeeper, async (tx, note) => {
    const found = await findAgent(tx, projectId, nameKey(name))
    if (found !== undefined) return found
    const made = await insertProfile(tx, {
      projectId,
      name,
      nameKey: nameKey(name),
      program: 'ops',
      model: 'unknown',
      task: 'holds the inboxes of agents that are late with an acknowledgement',
      policy: 'auto',
      now: hub.clock.now(),
    })
    note({ kind: 'agent.created', projectId, agentId: made.id })
    return made
  })
  return known(hub, row)
}
