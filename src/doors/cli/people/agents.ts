/** `parley who` and `parley agents`: who is active, and all agents there are. */
import type { Command } from 'commander'
import type { AgentsWish, Directory } from '../../words/desk.ts'
import { atLeast, outList } from '../commands.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Columns } from '../terminal/tables.ts'
import { atDesk, atMost, type OpenDesk, ofProject, peoplesCommand, type Where } from './person.ts'

interface Options extends AgentsWish, Where {
  readonly json?: true
}

type Agent = Directory['agents'][number]

/** The time of an agent's last activity, as the screen shows it. */
type Time = (agent: Agent) => string

interface View {
  readonly columns: (active: Time) => Columns<Agent>
  readonly none: string
}

const activity: View = {
  columns: (active) => ({
    agent: ['left', ({ name }) => name],
    project: ['shrinks', ({ project }) => project],
    roles: ['shrinks', ({ roles = [] }) => roles.join(', ')],
    task: ['shrinks', ({ task_description }) => task_description],
    unread: ['right', ({ unread_count }) => unread_count],
    'last active': ['left', active],
    reach: ['shrinks', ({ reach }) => reach?.text ?? ''],
  }),
  none: 'Nobody was active in that time. `parley agents` lists everybody; --within looks further back.',
}

const directory: View = {
  columns: (active) => ({
    agent: ['left', ({ name }) => name],
    project: ['shrinks', ({ project }) => project],
    program: ['shrinks', ({ program }) => program],
    model: ['shrinks', ({ model }) => model],
    contact: ['left', ({ contact_policy }) => contact_policy],
    unread: ['right', ({ unread_count }) => unread_count],
    'last active': ['left', active],
  }),
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
      const { agents, has_more: hasMore } = directory
      const active: Time = ({ last_active_ts }) =>
        last_active_ts === null ? 'never' : when(screen, Date.parse(last_active_ts), desk.now())
      const columns = view.columns(active)
      return outList(screen, { json }, { document: directory, rows: agents, columns, none: view.none, hasMore })
    }),
  )
