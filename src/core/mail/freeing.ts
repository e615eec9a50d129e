/** Leases that a person frees, usually because their holder is gone; the holder is told by a message. */
import { HubError } from '../../base/errors.ts'
import { overseer } from '../../base/names.ts'
import { listActiveCalled, type NamedLeaseRow, updateReleased } from '../../store/leases.ts'
import { lockProject } from '../../store/projects.ts'
import type { Caller } from '../access/callers.ts'
import { needSteering } from '../access/rules.ts'
import { actIn, findActor } from '../agents/acting.ts'
import { commit } from '../hub/commit.ts'
import type { Hub } from '../hub/hub.ts'
import { readPatterns } from '../leases/leases.ts'
import { append } from '../messages/send.ts'
import { needProject } from '../projects/projects.ts'

export interface Freed {
  readonly id: number
  readonly agent: string
  readonly pattern: string
  /** Whether its holder got a message: a full mailbox takes none. */
  readonly told: boolean
}

interface Freeing {
  readonly ids: readonly number[]
  readonly patterns: readonly string[]
}

/** A pattern names the leases on that same pattern, whoever holds them. Leases and messages are one transaction. */
export async function freeLeases(
  hub: Hub,
  caller: Caller,
  project: string,
  { ids, patterns }: Freeing,
): Promise<Freed[]> {
  needSteering(caller)
  const { id: projectId, slug, key } = await needProject(hub, caller, project)
  // Only the operator acts as people do.
  const person = await findActor(hub, { caller, project: slug, name: overseer, unnoticed: true })
  const texts = readPatterns(key, patterns).map(({ text }) => text)
  return commit(hub, caller, async (tx, note) => {
    await lockProject(tx, projectId)
    const now = hub.clock.now()
    const rows = await listActiveCalled(tx, { projectId, ids, patterns: texts, now })
    if (rows.length === 0)
      throw new HubError('NOT_FOUND', `No such reservation is active in ${slug}.`, {
        hint: 'Name a reservation by its id, or by its pattern as the list shows it.',
      })
    const sender = await actIn(hub, { tx, note, caller }, person)
    const freed: Freed[] = []
    // By the ids of their holders, the order in which sends lock them.
    for (const [agentId, held] of Map.groupBy(rows, ({ agent_id }) => agent_id)) {
      await updateReleased(tx, { agentId, ids: held.map(({ id }) => id), patterns: undefined, now })
      for (const { id: leaseId } of held) note({ kind: 'lease.released', projectId, agentId, leaseId })
      const name = held[0]?.agent ?? ''
      const recipients = [{ agent: { id: agentId, projectId, name }, kind: 'to' as const }]
      const sent = await append(hub, { tx, note, uid: hub.ids.uuid(), sender, recipients, draft: message(held) })
      const told = 'messageId' in sent
      freed.push(...held.map(({ id, pattern }) => ({ id, agent: name, pattern, told })))
    }
    return freed
  })
}

function message(held: readonly NamedLeaseRow[]) {
  const [first, ...others] = held.map(({ pattern }) => pattern)
  const patterns = [first, ...others].map((pattern) => `- \`${pattern}\``).join('\n')
  return {
    subject: `Your reservation of ${shortened(first ?? '')}${others.length > 0 ? ` and ${others.length} more` : ''} was released`,
    body: `A person released your file reservation of:\n\n${patterns}\n\nOthers may edit these files now. Reserve them again before you go on with them.`,
    importance: 'high' as const,
  }
}

/** A pattern may be longer than a subject. */
const shortened = (pattern: string): string => (pattern.length > 150 ? `${pattern.slice(0, 149)}…` : pattern)
