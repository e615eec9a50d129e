/** `parley read` and `parley search`: one message whole, and messages by their words. */
import type { Command } from 'commander'
import { isReserved } from '../../../base/names.ts'
import { ownWords } from '../../../base/preamble.ts'
import { addressIn } from '../../words/addresses.ts'
import type { SearchWish, WholeMessage } from '../../words/desk.ts'
import { atLeast, outJson } from '../commands.ts'
import { bodyText } from '../terminal/bodies.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Columns, paint, table } from '../terminal/tables.ts'
import { atDesk, atMost, type OpenDesk, ofProject, peoplesCommand, type Where } from './person.ts'

export function readCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'show one message with the state of each recipient; nothing is marked as read'
  return peoplesCommand('read', says, screen, '12', '12 --json')
    .argument('<id>', 'the number of the message, from the list', atLeast(1))
    .action((id: number, options: Where & { readonly json?: true }) =>
      atDesk(open, screen, options, async ({ desk, json }) => {
        const message = await desk.read(id)
        if (json) return outJson(screen, message)
        await screen.out(asText(message, screen, desk.now()))
        await screen.note(`Answer it: parley reply ${id}`)
      }),
    )
}

/** A line a field, which no text of an agent can forge: its body is indented. */
function asText(message: WholeMessage, screen: Screen, now: number): string {
  const address = addressIn(message.project)
  const line = (name: string, value: string): string[] =>
    value === '' ? [] : [`${paint(screen, 'dim', `${name}:`)} ${harmlessLine(value)}\n`]
  const states = (kind: 'to' | 'cc' | 'bcc'): string =>
    message.recipients
      .filter((one) => one.kind === kind)
      .map((one) => `${address(one)} (${one.state})`)
      .join(', ')
  const others = message.thread.filter(({ id }) => id !== message.id).map(({ id }) => `#${id}`)
  const sender = message.from.split('@', 1)[0] ?? ''
  return [
    ...line('Message', `#${message.id}`),
    ...line('Subject', message.subject),
    ...line('From', `${message.from}${isReserved(sender) ? ' (a person)' : ''}`),
    ...line('To', states('to')),
    ...line('Cc', states('cc')),
    ...line('Bcc', states('bcc')),
    ...line('Project', message.project),
    ...line('Topic', message.topic ?? ''),
    ...line('Thread', message.topic === null ? (message.thread_id ?? '') : ''),
    ...line('Sent', when(screen, Date.parse(message.created_ts), now)),
    ...line('Importance', message.importance === 'normal' ? '' : message.importance),
    ...line('Acknowledgement', message.ack_required ? 'wanted' : ''),
    ...line('Answers', message.reply_to === null ? '' : `#${message.reply_to}`),
    ...line('Attached', message.attachments.length === 0 ? '' : count(message.attachments.length, 'file')),
    ...line('In its thread', others.join(' ')),
    '\n',
    message.sealed === true
      ? "All agents of this message hold keys: the pages show it with the operator's token.\n"
      : bodyText(ownWords(sender, message.body_md), screen),
  ].join('')
}

interface Searching extends Omit<SearchWish, 'query'>, Where {
  readonly json?: true
}

export function searchCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'find messages of all projects by their words, the best first'
  const lines = [
    'cache invalidation',
    '"exact words" subject:plan --project backend',
    'to:BlueLake is:unread after:2026-11-01 --newest',
  ]
  const command = peoplesCommand('search', says, screen, ...lines)
    .argument(
      '<query...>',
      'words, "phrases", begin*, -word, AND, OR, NOT; subject: body: from: to: thread: project: type: importance: before: after: is:unread is:unacked is:sealed has:attachment',
    )
    .option('--newest', 'the newest first')
    .option('--page <n>', 'which page of the results', atLeast(1), 1)
  return ofProject(atMost(command, 20)).action((words: string[], options: Searching) =>
    atDesk(open, screen, options, async ({ desk, json }) => {
      const { newest, project, limit, page } = options
      const found = await desk.search({ query: words.join(' '), project, limit, page, newest })
      if (json) return outJson(screen, found)
      const { results, note, next_page, total, capped, suggestion } = found
      if (note !== null) await screen.note(note)
      if (suggestion !== null)
        await screen.note(`No message has these words; others begin so: parley search '${suggestion}'`)
      if (results.length === 0 && screen.tty) return screen.note('Nothing was found.')
      const columns: Columns<(typeof results)[number]> = {
        id: ['right', ({ id }) => id],
        project: ['shrinks', ({ project }) => project],
        from: ['shrinks', ({ from }) => from],
        subject: ['shrinks', ({ subject }) => subject],
        text: ['shrinks', ({ text }) => text],
        thread: ['shrinks', ({ thread_id, id }) => thread_id ?? id],
        sent: ['left', ({ created_ts }) => when(screen, Date.parse(created_ts), desk.now())],
      }
      await screen.out(table(columns, results, screen))
      const all = `${capped ? 'At least ' : ''}${count(total, 'message')} found.`
      await screen.note(next_page === null ? all : `${all} There is more: --page ${next_page}`)
    }),
  )
}
