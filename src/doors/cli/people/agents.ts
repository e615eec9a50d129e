/** `parley who` and `parley agents`: who is active, and all agents there are. */
import type { Command } from 'commander'
import { listAllAgents, type Profile } from '../../../core/agents/profiles.ts'
import { toProfile } from '../../words/profiles.ts'
import { atLeast, higherLimit, moreWords, type Open, outJson } from '../commands.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Columns, table } from '../terminal/tables.ts'
import { atDesk, atMost, ofProject, peoplesCommand } from './person.ts'

interface Options {
  readonly project?: string
  readonly limit: number
  readonly within?: number
  readonly json?: true
}

interface View {
  readonly columns: Columns
  /** The values before the last column, which says when the agent was active. */
  readonly row: (agent: Profile) => string[]
  readonly none: string
}

const activity: View = {
  columns: { agent: 'left', project: 'shrinks', task: 'shrinks', unread: 'right', 'last active': 'left' },
  row: ({ name, project, task, unread }) => [name, project, task, String(unread)],
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
  row: ({ name, project, program, model, contactPolicy, unread }) => [
    name,
    project,
    program,
    model,
    contactPolicy,
    String(unread),
  ],
  none: 'There are no agents yet: an agent is there once it calls.',
}

export function whoCommand(open: Open, screen: Screen): Command {
  const says = 'show who was active lately and at what, the latest first'
  const command = peoplesCommand('who', says, screen, '', '--project backend --within 1440')
  command.option('--within <minutes>', 'only those active within this time', atLeast(1), 60)
  return listing(command, open, { screen, view: activity })
}

export function agentsCommand(open: Open, screen: Screen): Command {
  const says = 'list the agents of all projects, the latest active first'
  return listing(peoplesCommand('agents', says, screen, '', '--project backend --json'), open, {
    screen,
    view: directory,
  })
}

const listing = (command: Command, open: Open, { screen, view }: { screen: Screen; view: View }): Command =>
  ofProject(atMost(command, 200)).action((options: Options) =>
    atDesk(open, screen, options, async ({ hub, caller, json }) => {
      const { project, limit, within } = options
      const activeWithinMs = within === undefined ? undefined : within * 60_000
      const { agents, more } = await listAllAgents(hub, caller, { project, limit, activeWithinMs })
      if (json)
        return outJson(screen, { agents: agents.map(toProfile), count: agents.length, ...moreWords(more, higherLimit) })
      if (agents.length === 0 && screen.tty) return screen.note(view.none)
      const now = hub.clock.now()
      const rows = agents.map((agent) => [
        ...view.row(agent),
        agent.activeAt === 0 ? 'never' : when(screen, agent.activeAt, now),
      ])
      await screen.out(table(view.columns, rows, screen))
      if (more) await screen.note(higherLimit)
    }),
  )
