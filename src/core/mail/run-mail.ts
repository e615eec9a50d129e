/** The mail of a run as its own agent takes it: it is lent until the command ends, and handed out once within the run. */
import { HubError } from '../../base/errors.ts'
import { hasRun, takeOfRun, updateUntaken } from '../../store/mail/runs.ts'
import { needWriting } from '../access/rules.ts'
import { type Acting, actAs } from '../agents/acting.ts'
import { commit } from '../hub/commit.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { mailOf, type Taken } from './take.ts'

/** The `hold` of a delivery that is lent to a run: the token alone takes nothing, its bearer must be let in as the agent. */
export const holdOf = (run: string): string => `run:${run}`

/** The next message of the run; undefined once all were handed out. Nothing is marked as read: the end of the command decides. */
export async function takeInRun(hub: Hub, acting: Acting, run: string): Promise<Taken | undefined> {
  needWriting(acting.caller)
  const agent = await actAs(hub, acting)
  const hold = holdOf(run)
  const row = await commit(hub, acting.caller, (tx) =>
    takeOfRun(tx, { recipientId: agent.id, hold, now: hub.clock.now() }),
  )
  if (row === undefined) {
    if (await hasRun(reader(hub), agent.id, hold)) return undefined
    throw new HubError('LEASE_EXPIRED', `The run of ${agent.name} is over: its mail went back to the mailbox.`, {
      reason: 'run_over',
      hint: 'Stop here: another run is started for the mail. Outside of a run, unset PARLEY_RUN.',
    })
  }
  return {
    mail: mailOf(row, undefined, agent.projectId),
    putBack: () => commit(hub, acting.caller, (tx) => updateUntaken(tx, { id: row.delivery_id, hold })),
  }
}
