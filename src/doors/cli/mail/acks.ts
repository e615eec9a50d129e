/** `parley acks` and `parley list-acks`: which acknowledgements an agent still owes. */
import { type Command, InvalidArgumentError } from 'commander'
import { type Caller, local } from '../../../core/access/callers.ts'
import { needAgent } from '../../../core/agents/agents.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { listInbox, type Received } from '../../../core/mail/inbox.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { parseAddress } from '../../words/addresses.ts'
import { address, toDelivery, toEnvelope } from '../../words/mail.ts'
import {
  atLeast,
  callerOf,
  examples,
  newCommand,
  type Open,
  ofProject,
  outList,
  projectTyped,
  withHub,
  withJson,
} from '../commands.ts'
import { word } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Columns } from '../terminal/tables.ts'

interface Shared {
  readonly limit: number
  readonly json?: true
}

interface Wish extends Shared {
  readonly project: string
  readonly agent: string
  /** Only messages that have waited for so many minutes, the oldest first. */
  readonly olderThan?: { readonly minutes: number; readonly called: string }
}

/** The time from which an acknowledgement is overdue is asked for only where it is needed. */
export function acksCommand(open: Open, ttlMinutes: () => number, screen: Screen): Command {
  const acks = newCommand('acks', screen)
    .description('show which acknowledgements an agent owes: pending, remind, overdue')
    .addHelpText('after', examples('acks pending backend BlueLake', 'acks overdue /srv/code/backend BlueLake --json'))

  const command = (name: string, description: string, ...options: string[]): Command =>
    withOptions(
      ofProject(acks.command(name).description(description)).argument('<agent>', 'the name of the agent'),
      ...['', ...options].map((one) => `acks ${name} backend BlueLake${one}`),
    )

  const run = (wish: Wish): Promise<void> =>
    withHub(open, screen, async (hub) => show(hub, await callerOf(open, hub), screen, wish))

  command('pending', 'all messages that an agent has not acknowledged, the newest first').action(
    (project: string, agent: string, options: Shared) => run({ project, agent, ...options }),
  )

  command('remind', 'messages that have waited for some time, the oldest first', ' --min-age-minutes 5')
    .option('--min-age-minutes <n>', 'for how long', minutes, 30)
    .action((project: string, agent: string, options: Shared & { minAgeMinutes: number }) =>
      run({ project, agent, ...options, olderThan: { minutes: options.minAgeMinutes, called: 'min_age_minutes' } }),
    )

  command('overdue', 'messages that have waited for too long, the oldest first', ' --ttl-minutes 120')
    .option('--ttl-minutes <n>', 'how long is too long (default: ACK_TTL_SECONDS, which is 30 minutes)', minutes)
    .action((project: string, agent: string, options: Shared & { ttlMinutes?: number }) =>
      run({
        project,
        agent,
        ...options,
        olderThan: { minutes: options.ttlMinutes ?? ttlMinutes(), called: 'ttl_minutes' },
      }),
    )

  return acks
}

/** The older form of `acks pending`. */
export function listAcksCommand(open: Open, screen: Screen): Command {
  const command = newCommand('list-acks', screen)
    .description('list the messages that an agent has not acknowledged, as `acks pending` does')
    .requiredOption('--project <slug or key>', 'the project of the agent', projectTyped)
    .requiredOption('--agent <name>', 'the name of the agent')
  return withOptions(command, 'list-acks --project backend --agent BlueLake --limit 10').action((options: Wish) =>
    withHub(open, screen, async (hub) => show(hub, await callerOf(open, hub), screen, options)),
  )
}

const withOptions = (command: Command, ...shown: string[]): Command =>
  withJson(command.option('--limit <n>', 'how many at most', atLeast(1), 20), ...shown)

function minutes(given: string): number {
  const value = /^\d{1,9}(\.\d{1,6})?$/.test(given) ? Number(given) : Number.NaN
  if (Number.isNaN(value)) throw new InvalidArgumentError('It must be a number of minutes, 0 or more.')
  return value
}

/** Nothing is marked as read by it, and the agent does not count as active. */
async function show(hub: Hub, caller: Caller, screen: Screen, options: Wish): Promise<void> {
  const { project: slugOrKey, agent: called, olderThan, limit } = options
  const { slug: project } = await needProject(hub, local, slugOrKey)
  const [name, home] = parseAddress(called)
  const { name: agent } = await needAgent(hub, local, project, name)
  const now = hub.clock.now()
  const { messages, more } = await listInbox(
    hub,
    { caller, project, name: agent, home, registered: true, unnoticed: true },
    {
      part: 'unacked',
      limit,
      ...(olderThan && { until: Math.floor(now - olderThan.minutes * 60_000), oldestFirst: true }),
    },
  )
  const threshold = olderThan && { [olderThan.called]: olderThan.minutes }
  const shown = messages.map((message) => ({ ...toEnvelope(message), ...toDelivery(message) }))
  return outList(screen, options, {
    document: { project, agent, ...threshold, count: messages.length, messages: shown },
    rows: messages,
    columns: columnsFor(screen, now),
    none: nothing(agent, olderThan?.minutes),
    hasMore: more,
  })
}

function nothing(agent: string, minutes: number | undefined): string {
  const since = minutes === undefined ? '' : ` that is older than ${minutes} min`
  return `${word(agent)} has nothing to acknowledge${since}.`
}

const columnsFor = (screen: Screen, now: number): Columns<Received> => ({
  id: ['right', ({ id }) => id],
  from: ['left', ({ from }) => address(from)],
  subject: ['shrinks', ({ subject }) => subject],
  importance: ['left', ({ importance }) => importance],
  sent: ['left', ({ createdAt }) => when(screen, createdAt, now)],
  read: ['left', ({ readAt }) => (readAt === undefined ? 'no' : when(screen, readAt, now))],
})
