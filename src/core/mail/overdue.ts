/** Overdue acknowledgements: each is logged once, and escalated where the settings ask for it. */
import { listOverdue, type OverdueRow, updateEscalated } from '../../store/mail/overdue.ts'
import type { Chore } from '../hub/chores.ts'
import { type Hub, reader } from '../hub/hub.ts'

export interface OverdueRules {
  readonly everyMs: number
  /** The age from which an acknowledgement is overdue. */
  readonly ttlMs: number
  readonly escalation: 'none' | 'log' | 'file_reservation'
  /** Reserves the inbox of a late agent. A second call only makes the reservation last longer. */
  readonly reserve: (hub: Hub, late: Late) => Promise<void>
}

/** An agent that is late, in the project of this slug. */
export interface Late {
  readonly agentId: number
  readonly name: string
  readonly project: string
}

/** Others wait for the commit. */
const rowsPerCommit = 100

/**
 * First the inbox is reserved, then its mail is marked: after a crash in between it is reserved once more, which changes
 * nothing. A marked message is never escalated again. The log line follows the mark, so that none comes twice.
 */
export const overdueChore = ({ everyMs, ttlMs, escalation, reserve }: OverdueRules): Chore => ({
  name: 'ack-overdue',
  everyMs,
  async run(hub, job) {
    const before = hub.clock.now() - ttlMs
    for (;;) {
      await job.renew()
      const rows = await listOverdue(reader(hub), before, rowsPerCommit)
      if (rows.length === 0) return
      const reserved = escalation === 'file_reservation' ? await reserveAll(hub, rows, reserve) : undefined
      const ids = rows.map(({ id }) => id)
      const marked = await job.batch((tx) => updateEscalated(tx, ids, hub.clock.now()))
      for (const row of rows) if (marked.has(row.id)) tell(hub, row, { escalation, reserved })
      if (rows.length < rowsPerCommit) return
    }
  },
})

/** One inbox that cannot be reserved stops no other. */
async function reserveAll(
  hub: Hub,
  rows: readonly OverdueRow[],
  reserve: OverdueRules['reserve'],
): Promise<Set<number>> {
  const reserved = new Set<number>()
  for (const [agentId, { recipient: name, project }] of new Map(rows.map((row) => [row.recipient_id, row])))
    try {
      await reserve(hub, { agentId, name, project })
      reserved.add(agentId)
    } catch (error) {
      hub.log.warn(
        { err: error, event: 'ack_escalation_failed', recipient: name, project },
        'an inbox was not reserved',
      )
    }
  return reserved
}

function tell(
  hub: Hub,
  { id, message_id, subject, sender, recipient_id, recipient, project, sent_at }: OverdueRow,
  { escalation, reserved }: Pick<OverdueRules, 'escalation'> & { reserved: Set<number> | undefined },
): void {
  hub.log.warn(
    {
      event: 'ack_overdue',
      message_id,
      delivery_id: id,
      subject,
      from: sender,
      recipient,
      project,
      age_seconds: Math.floor((hub.clock.now() - sent_at) / 1000),
      escalation,
      ...(reserved !== undefined && { reserved: reserved.has(recipient_id) }),
    },
    escalation === 'none' ? 'an acknowledgement is overdue' : 'an acknowledgement is overdue: escalated',
  )
}
