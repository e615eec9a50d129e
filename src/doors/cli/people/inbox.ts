/** `parley inbox` and `parley threads`: mail as the pages list it. Nothing is marked as read by it. */
import type { Command } from 'commander'
import type { InboxWish, ListWish, MailList, MailWords } from '../../words/desk.ts'
import { atLeast, outList } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Columns } from '../terminal/tables.ts'
import { mailColumns, titleOf } from './mail-table.ts'
import { type AtDesk, atDesk, atMost, type OpenDesk, ofProject, peoplesCommand, type Where } from './person.ts'

interface Listing extends ListWish, Where {
  readonly json?: true
}

interface Boxes extends Omit<InboxWish, 'name'>, Where {
  readonly json?: true
}

const paged = (command: Command): Command =>
  atMost(command, 20).option('--before <id>', 'only those before this message: the next page', atLeast(1))

export function inboxCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'list all mail, or the mail of one agent, the newest first; nothing is marked as read'
  const command = peoplesCommand('inbox', says, screen, '', 'BlueLake --unread', '--project backend --from GreenCastle')
    .argument('[name]', 'an agent, or Name@project: its inbox')
    .option('--unread', 'only unread mail')
    .option('--from <name>', 'only of this sender')
    .option('--sent', 'the mail that the agent has sent')
  return ofProject(paged(command)).action((name: string | undefined, options: Boxes) =>
    atDesk(open, screen, options, async (at) => {
      const { project, limit, before, unread, from, sent } = checked(name, options)
      const found = await at.desk.inbox({ name, project, limit, before, unread, from, sent })
      return shown(at, screen, { found, columns: mailColumns })
    }),
  )
}

function checked(name: string | undefined, options: Boxes): Boxes {
  const { sent, from } = options
  if (name === undefined && sent)
    throw new UsageError('--sent is about one agent.', 'Name it: parley inbox <name> --sent')
  if (name !== undefined && from !== undefined)
    throw new UsageError('--from is about all mail.', `parley search from:${from} to:${name} finds it.`)
  return options
}

export function threadsCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'list threads and topics by their newest message, the newest first'
  const command = peoplesCommand('threads', says, screen, '', '--project backend --limit 50')
  return ofProject(paged(command)).action((options: Listing) =>
    atDesk(open, screen, options, async (at) => {
      const { project, limit, before } = options
      return shown(at, screen, { found: await at.desk.threads({ project, limit, before }), columns: threadColumns })
    }),
  )
}

const threadColumns = (screen: Screen, now: number): Columns<MailWords> => ({
  project: ['shrinks', ({ project }) => project],
  thread: ['shrinks', ({ thread_id, id }) => thread_id ?? id],
  subject: ['shrinks', titleOf],
  messages: ['right', ({ count = 1 }) => count],
  'last id': ['right', ({ id }) => id],
  'last from': ['shrinks', ({ from }) => from],
  'last sent': ['left', ({ created_ts }) => when(screen, Date.parse(created_ts), now)],
})

interface Shown {
  readonly found: MailList
  readonly columns: (screen: Screen, now: number) => Columns<MailWords>
}

async function shown({ desk, json }: AtDesk, screen: Screen, { found, columns }: Shown): Promise<void> {
  const { messages: rows, next_before } = found
  await outList(
    screen,
    { json },
    {
      document: found,
      rows,
      columns: columns(screen, desk.now()),
      none: 'There is no such mail.',
    },
  )
  if (!json && next_before !== null) await screen.note(`There is more: --before ${next_before}`)
}
