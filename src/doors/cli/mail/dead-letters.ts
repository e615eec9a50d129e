/** `parley dead-letters`: mail that was handed out too often and never confirmed; a person looks at it, and retries or drops it. */
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { operator } from '../../../core/access/callers.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import {
  type DeadLetter,
  dropDeadLetter,
  listDeadLetters,
  retryDeadLetter,
  showDeadLetter,
} from '../../../core/pages/dead-letters.ts'
import type { Who } from '../../../core/pages/page-message.ts'
import { addressIn } from '../../words/addresses.ts'
import { iso } from '../../words/times.ts'
import { atLeast, examples, newCommand, type Open, outJson, outList, withHub, withJson } from '../commands.ts'
import { bodyText } from '../terminal/bodies.ts'
import { word } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Columns, table } from '../terminal/tables.ts'

interface Options {
  readonly json?: true
}

export function deadLettersCommand(open: Open, screen: Screen): Command {
  const letters = newCommand('dead-letters', screen)
    .description('mail that was handed out too often and never confirmed: list, show, retry, drop')
    .addHelpText('after', examples('dead-letters list', 'dead-letters retry 42'))

  withJson(letters.command('list').description('list dead letters, the newest first'), 'dead-letters list --json')
    .option('--limit <n>', 'how many at most', atLeast(1), 200)
    .action((options: Options & { limit: number }) =>
      // The database is open to its operator only.
      withHub(open, screen, async (hub) => {
        const { letters, more } = await listDeadLetters(hub, operator, options)
        return outList(screen, options, {
          document: { dead_letters: letters.map(toLetter) },
          rows: letters,
          columns: columnsFor(screen, hub.clock.now()),
          none: 'There are no dead letters.',
          hasMore: more,
        })
      }),
    )

  const ofOne = (name: string, description: string, run: (hub: Hub, id: number, options: Options) => Promise<void>) =>
    withJson(letters.command(name).description(description), `dead-letters ${name} 42`)
      .argument('<id>', 'the number of the message, from the list', atLeast(1))
      .action((id: number, options: Options) =>
        withHub(open, screen, (hub) => run(hub, id, options).catch(namingCommand)),
      )

  ofOne('show', 'show one of them whole', async (hub, id, { json }) => {
    const { shown, letters } = await showDeadLetter(hub, operator, id)
    const { body = '' } = shown
    if (json) return outJson(screen, { dead_letters: letters.map(toLetter), body_md: body })
    await screen.out(`${table(columnsFor(screen, hub.clock.now()), letters, screen)}\n${bodyText(body, screen)}`)
    await screen.note(`Hand it out again: parley dead-letters retry ${id}`)
  })

  ofOne('retry', 'put it back into its mailbox, at its old place', async (hub, id, { json }) => {
    const back = await retryDeadLetter(hub, operator, id)
    if (json) return outJson(screen, { message_id: id, retried: back.map(toName) })
    await screen.out(`Message ${id} is in the mailbox of ${namesOf(back)} again.\n`)
  })

  ofOne('drop', 'take it off the list for good; it stays in its thread', async (hub, id, { json }) => {
    const dropped = await dropDeadLetter(hub, operator, id)
    if (json) return outJson(screen, { message_id: id, dropped: dropped.map(toName) })
    await screen.out(`Message ${id} to ${namesOf(dropped)} is dropped.\n`)
  })

  return letters
}

/** Adds the command that lists them. */
function namingCommand(error: unknown): never {
  if (!(error instanceof HubError) || error.code !== 'NOT_FOUND') throw error
  throw new HubError(error.code, error.message, { hint: '`parley dead-letters list` shows them.', cause: error })
}

const toName = ({ name, project }: Who): string => `${name}@${project}`

const namesOf = (all: readonly Who[]): string => all.map((one) => word(toName(one))).join(', ')

const toLetter = ({ message, recipient, attempts, diedAt }: DeadLetter) => ({
  message_id: message.id,
  recipient: recipient.name,
  project: recipient.project,
  from: addressIn(recipient.project)(message.from),
  subject: message.subject,
  attempts,
  created_ts: iso(message.createdAt),
  died_ts: iso(diedAt),
})

const columnsFor = (screen: Screen, now: number): Columns<DeadLetter> => ({
  id: ['right', ({ message }) => message.id],
  to: ['left', ({ recipient }) => toName(recipient)],
  from: ['left', ({ message, recipient }) => addressIn(recipient.project)(message.from)],
  subject: ['shrinks', ({ message }) => message.subject],
  attempts: ['right', ({ attempts }) => attempts],
  died: ['left', ({ diedAt }) => when(screen, diedAt, now)],
})
