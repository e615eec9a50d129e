/** `parley inbox` and `parley threads`: mail as the pages list it. Nothing is marked as read by it. */
import type { Command } from 'commander'
import { needHome } from '../../../core/agents/agents.ts'
import { listBox } from '../../../core/pages/agent-mail.ts'
import { listAllMail, listAllThreads } from '../../../core/pages/unified-inbox.ts'
import { parseAddress } from '../../words/fields.ts'
import { toBoxed, toMessage } from '../../words/page-mail.ts'
import { atLeast, type Open, outJson } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { table } from '../terminal/tables.ts'
import { type MailWords, mailTable } from './mail-table.ts'
import { atDesk, atMost, type Desk, ofProject, peoplesCommand } from './person.ts'

interface Listing {
  readonly project?: string
  readonly limit: number
  readonly before?: number
  readonly json?: true
}

interface Boxes extends Listing {
  readonly unread?: true
  readonly from?: string
  readonly sent?: true
}

interface Found {
  readonly messages: readonly MailWords[]
  readonly next: number | undefined
}

const paged = (command: Command): Command =>
  atMost(command, 20).option('--before <id>', 'only those before this message: the next page', atLeast(1))

export function inboxCommand(open: Open, screen: Screen): Command {
  const says = 'list all mail, or the mail of one agent, the newest first; nothing is marked as read'
  const command = peoplesCommand('inbox', says, screen, '', 'BlueLake --unread', '--project backend --from GreenCastle')
    .argument('[name]', 'an agent, or Name@project: its inbox')
    .option('--unread', 'only unread mail')
    .option('--from <name>', 'only of this sender')
    .option('--sent', 'the mail that the agent has sent')
  return ofProject(paged(command)).action((name: string | undefined, options: Boxes) =>
    atDesk(open, screen, options, async (desk) => {
      const found = await (name === undefined ? allMail(desk, options) : boxOf(desk, name, options))
      return shown(desk, found, (messages, now) => mailTable(messages, screen, now))
    }),
  )
}

async function allMail({ hub, caller }: Desk, { sent, ...wish }: Boxes): Promise<Found> {
  if (sent) throw new UsageError('--sent is about one agent.', 'Name it: parley inbox <name> --sent')
  const { items, next } = await listAllMail(hub, caller, wish)
  return { messages: items.map(toMessage), next }
}

async function boxOf({ hub, caller }: Desk, called: string, options: Boxes): Promise<Found> {
  const { sent, from, unread, limit, before } = options
  if (from !== undefined)
    throw new UsageError('--from is about all mail.', `parley search from:${from} to:${called} finds it.`)
  const [name, home = options.project] = parseAddress(called)
  const project = home ?? (await needHome(hub, caller, name))
  const box = sent ? 'outbox' : 'inbox'
  const { items, next } = await listBox(hub, caller, project, { name, box, unread, limit, before })
  return { messages: items.map(toBoxed), next }
}

export function threadsCommand(open: Open, screen: Screen): Command {
  const says = 'list threads and topics by their newest message, the newest first'
  const command = peoplesCommand('threads', says, screen, '', '--project backend --limit 50')
  return ofProject(paged(command)).action((options: Listing) =>
    atDesk(open, screen, options, async (desk) => {
      const { items, next } = await listAllThreads(desk.hub, desk.caller, options)
      const messages = items.map((item) => ({ ...toMessage(item), count: item.count }))
      return shown(desk, { messages, next }, (rows, now) => threadTable(rows, screen, now))
    }),
  )
}

function threadTable(messages: readonly MailWords[], screen: Screen, now: number): string {
  const columns = {
    project: 'shrinks',
    thread: 'shrinks',
    subject: 'shrinks',
    messages: 'right',
    'last id': 'right',
    'last from': 'shrinks',
    'last sent': 'left',
  } as const
  const rows = messages.map(({ id, project, thread_id, subject, sealed, count = 1, from, created_ts }) => [
    project,
    thread_id ?? String(id),
    sealed === true ? 'Sealed: between agents with keys' : subject,
    String(count),
    String(id),
    from,
    when(screen, Date.parse(created_ts), now),
  ])
  return table(columns, rows, screen)
}

type Draw = (messages: readonly MailWords[], now: number) => string

async function shown({ hub, screen, json }: Desk, { messages, next }: Found, draw: Draw): Promise<void> {
  if (json)
    return outJson(screen, {
      messages,
      count: messages.length,
      has_more: next !== undefined,
      next_before: next ?? null,
    })
  if (messages.length === 0 && screen.tty) return screen.note('There is no such mail.')
  await screen.out(draw(messages, hub.clock.now()))
  if (next !== undefined) await screen.note(`There is more: --before ${next}`)
}
