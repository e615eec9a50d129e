/** `parley trace`: what became of one message, recipient by recipient. */
import type { Command } from 'commander'
import { addressIn } from '../../words/addresses.ts'
import type { Traced } from '../../words/desk.ts'
import { atLeast, outJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Columns, table } from '../terminal/tables.ts'
import { atDesk, type OpenDesk, peoplesCommand, type Where } from './person.ts'

export function traceCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'trace a message: for each recipient its state, the times and the route'
  return peoplesCommand('trace', says, screen, '12', '12 --json')
    .argument('<id>', 'the number of the message, from the list', atLeast(1))
    .addHelpText(
      'after',
      `
The states, each with its time:
  queued     stored; no route has taken it yet
  offered    a route (via) has told the agent of it: a hook, a waiter or a bridge
  delivered  its text went out in an answer to the agent
  read       the agent took it, or marked it as read
  acked      the agent acknowledged it
  expired    its time to live was over before anybody read it
  dead       it was handed out too often and never confirmed (parley dead-letters)
  dropped    a person took it off the dead letters
`,
    )
    .action((id: number, options: Where & { readonly json?: true }) =>
      atDesk(open, screen, options, async ({ desk, json }) => {
        const traced = await desk.trace(id)
        if (json) return outJson(screen, traced)
        await screen.out(asText(traced, screen, desk.now()))
        if (traced.recipients.length === 0) await screen.note('It went to a topic: nobody in particular received it.')
      }),
    )
}

function asText({ id, from, project, created_ts, recipients }: Traced, screen: Screen, now: number): string {
  const at = (time: string | null): string => (time === null ? '' : when(screen, Date.parse(time), now))
  const columns: Columns<(typeof recipients)[number]> = {
    recipient: ['shrinks', addressIn(project)],
    kind: ['left', ({ kind }) => kind],
    state: ['left', ({ state }) => state],
    offered: ['left', ({ offered_ts }) => at(offered_ts)],
    via: ['left', ({ offered_via }) => offered_via ?? ''],
    delivered: ['left', ({ delivered_ts }) => at(delivered_ts)],
    read: ['left', ({ read_ts }) => at(read_ts)],
    acked: ['left', ({ ack_ts }) => at(ack_ts)],
    reach: ['shrinks', ({ reach }) => reach?.text ?? ''],
  }
  const head = `#${id} from ${from} in ${project}, sent ${at(created_ts)}`
  return `${screen.tty ? `${harmlessLine(head)}\n\n` : ''}${recipients.length === 0 ? '' : table(columns, recipients, screen)}`
}
