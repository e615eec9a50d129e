/** `parley who` and `parley agents`: who is active, and all agents there are. */
import type { Command } from 'commander'
import type { AgentsWish, Directory } from '../../words/desk.ts'
import { atLeast, higherLimit, moreWords, outJson } from '../commands.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Columns, table } from '../terminal/tables.ts'
import { atDesk, atMost, type OpenDesk, ofProject, peoplesCommand, type Where } from './person.ts'

interface Options extends AgentsWish, Where {
  readonly json?: true
}

type Agent = Directory['agents'][number]

interface View {
  readonly columns: Columns
  /** The values before the column that says when the agent was active, and behind it. */
  readonly row: (agent: Agent) => string[]
  readonly more?: (agent: Agent) => string[]
  readonly none: string
}

const activity: View = {
  columns: {
    agent: 'left',
    project: 'shrinks',
    roles: 'shrinks',
    task: 'shrinks',
    unread: 'right',
    'last active': 'left',
    reach: 'shrinks',
  },
  row: ({ name, project, roles = [], task_description, unread_count }) => [
    name,
    project,
    roles.join(', '),
    task_description,
    String(unread_count),
  ],
  more: ({ reach }) => [reach?.text ?? ''],
  none: 'Nobody was active in that time. `parley agents` lists everybody; --within looks further back.',
}

const directory: View = {
  columns: {
    agent: 'left',
    project: 'shrinks',
    program: 'shrinks',
    model: 'shrinks',
    contact: 'left',
    unread: 'right',
    'last active': 'left',
  },
  row: ({ name, project, program, model, contact_policy, unread_count }) => [
    name,
    project,
    program,
    model,
    contact_policy,
    String(unread_count),
  ],
  none: 'There are no agents yet: an agent is there once it calls.',
}

export function whoCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'show the active agents, their tasks, and how mail reaches each; the latest first'
  const command = peoplesCommand('who', says, screen, '', '--project backend --within 1440')
  command.option('--within <minutes>', 'only those active within this time', atLeast(1), 60)
  return listing(command, open, { screen, view: activity })
}

export function agentsCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'list the agents of all projects, the latest active first'
  return listing(peoplesCommand('agents', says, screen, '', '--project backend --json'), open, {
    screen,
    view: directory,
  })
}

const listing = (command: Command, open: OpenDesk, { screen, view }: { screen: Screen; view: View }): Command =>
  ofProject(atMost(command, 200)).action((options: Options) =>
    atDesk(open, screen, options, async ({ desk, json }) => {
      const { project, limit, within } = options
      const directory = await desk.agents({ project, limit, within })
      const { agents, has_more } = directory
      if (json) return outJson(screen, { ...directory, ...moreWords(has_more, higherLimit) })
      if (agents.length === 0 && screen.tty) return screen.note(view.none)
      const now = desk.now()
      const rows = agents.map((agent) => [
        ...view.row(agent),
        agent.last_active_ts === null ? 'never' : when(screen, Date.parse(agent.last_active_ts), now),
        ...(view.more?.(agent) ?? []),
      ])
      await screen.out(table(view.columns, rows, screen))
      if (has_more) await screen.note(higherLimit)
    }),
  )
