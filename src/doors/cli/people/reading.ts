/** `parley read` and `parley search`: one message whole, and messages by their words. */
import type { Command } from 'commander'
import { readMessage, type ShownMessage } from '../../../core/pages/message.ts'
import { searchMail } from '../../../core/pages/search.ts'
import { marked } from '../../../fulltext/excerpt.ts'
import { addressIn, toMessage, toRecipient } from '../../words/page-mail.ts'
import { atLeast, type Open, outJson } from '../commands.ts'
import { bodyText } from '../terminal/bodies.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { paint, table } from '../terminal/tables.ts'
import { atDesk, atMost, ofProject, peoplesCommand } from './person.ts'

export function readCommand(open: Open, screen: Screen): Command {
  const says = 'show one message with the state of each recipient; nothing is marked as read'
  return peoplesCommand('read', says, screen, '12', '12 --json')
    .argument('<id>', 'the number of the message, as it is listed', atLeast(1))
    .action((id: number, options: { readonly json?: true }) =>
      atDesk(open, screen, options, async ({ hub, caller, json }) => {
        const message = await readMessage(hub, caller, id)
        if (json) return outJson(screen, toDocument(message))
        await screen.out(letter(message, screen, hub.clock.now()))
        await screen.note(`Answer it: parley reply ${id}`)
      }),
    )
}

const toDocument = (message: ShownMessage) => ({
  ...toMessage(message),
  body_md: message.body ?? '',
  bcc: message.bcc.map(addressIn(message.project)),
  recipients: message.states.map(toRecipient),
  reply_to: message.replyTo ?? null,
  thread: message.around.map(toMessage),
})

/** A line a field, which no text of an agent can forge: its body is indented. */
function letter(message: ShownMessage, screen: Screen, now: number): string {
  const address = addressIn(message.project)
  const line = (name: string, value: string): string[] =>
    value === '' ? [] : [`${paint(screen, 'dim', `${name}:`)} ${harmlessLine(value)}\n`]
  const states = (kind: 'to' | 'cc' | 'bcc'): string =>
    message.states
      .filter((one) => one.kind === kind)
      .map((one) => `${address(one)} (${one.state})`)
      .join(', ')
  const others = message.around.filter(({ id }) => id !== message.id).map(({ id }) => `#${id}`)
  return [
    ...line('Message', `#${message.id}`),
    ...line('Subject', message.subject),
    ...line('From', `${address(message.from)}${message.overseer ? ' (a person)' : ''}`),
    ...line('To', states('to')),
    ...line('Cc', states('cc')),
    ...line('Bcc', states('bcc')),
    ...line('Project', message.project),
    ...line('Topic', message.topic ?? ''),
    ...line('Thread', message.topic === undefined ? (message.thread ?? '') : ''),
    ...line('Sent', when(screen, message.createdAt, now)),
    ...line('Importance', message.importance === 'normal' ? '' : message.importance),
    ...line('Acknowledgement', message.ackRequired ? 'wanted' : ''),
    ...line('Answers', message.replyTo === undefined ? '' : `#${message.replyTo}`),
    ...line('Attached', message.attachments.length === 0 ? '' : count(message.attachments.length, 'file')),
    ...line('In its thread', others.join(' ')),
    '\n',
    message.sealed
      ? "All agents of this message hold keys: the pages show it to whoever has the operator's token.\n"
      : bodyText(message.body ?? '', screen),
  ].join('')
}

interface Searching {
  readonly project?: string
  readonly limit: number
  readonly page: number
  readonly newest?: true
  readonly json?: true
}

export function searchCommand(open: Open, screen: Screen): Command {
  const says = 'find messages of all projects by their words, the best first'
  const lines = ['cache invalidation', '"exact words" subject:plan --project backend', 'to:BlueLake deploy --newest']
  const command = peoplesCommand('search', says, screen, ...lines)
    .argument('<query...>', 'words, "phrases", subject:word, from:name, to:name, project:slug, AND, OR, NOT')
    .option('--newest', 'the newest first')
    .option('--page <n>', 'which page of the results', atLeast(1), 1)
  return ofProject(atMost(command, 20)).action((words: string[], options: Searching) =>
    atDesk(open, screen, options, async ({ hub, caller, json }) => {
      const { newest, project, limit, page } = options
      const query = words.join(' ')
      const order = newest ? 'time' : 'relevance'
      const found = await searchMail(hub, caller, { query, project, limit, page, order })
      const hits = found.results.map((hit) => ({ ...toMessage(hit), snippet: marked(hit.snippet), score: hit.score }))
      if (json) {
        const { total, next, note } = found
        return outJson(screen, { query, results: hits, total, next_page: next ?? null, note: note ?? null })
      }
      if (found.note !== undefined) await screen.note(found.note)
      if (hits.length === 0 && screen.tty) return screen.note('Nothing was found.')
      const columns = {
        id: 'right',
        project: 'shrinks',
        from: 'shrinks',
        subject: 'shrinks',
        text: 'shrinks',
        sent: 'left',
      } as const
      const rows = found.results.map(({ id, project: slug, from, subject, snippet, createdAt }) => [
        String(id),
        slug,
        addressIn(slug)(from),
        subject,
        snippet.text,
        when(screen, createdAt, hub.clock.now()),
      ])
      await screen.out(table(columns, rows, screen))
      if (found.next !== undefined) await screen.note(`There is more: --page ${found.next}`)
    }),
  )
}
