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
import {
  atLeast,
  examples,
  higherLimit,
  moreWords,
  newCommand,
  type Open,
  outJson,
  withHub,
  withJson,
} from '../commands.ts'
import { bodyText } from '../terminal/bodies.ts'
import { word } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { table } from '../terminal/tables.ts'

interface Options {
  readonly json?: true
}

export function deadLettersCommand(open: Open, screen: Screen): Command {
  const letters = newCommand('dead-letters', screen)
    .description('mail that was handed out too often and never confirmed: list, show, retry, drop')
    .addHelpText('after', examples('dead-letters list', 'dead-letters retry 42'))

  withJson(letters.command('list').description('list dead letters, the newest first'), 'dead-letters list --json')
    .option('--limit <n>', 'how many at most', atLeast(1), 200)
    .action(({ limit, json }: Options & { limit: number }) =>
      // The database is open to its operator only.
      withHub(open, screen, async (hub) => {
        const found = await listDeadLetters(hub, operator, { limit })
        if (json)
          return outJson(screen, { dead_letters: found.letters.map(toLetter), ...moreWords(found.more, higherLimit) })
        if (found.letters.length === 0 && screen.tty) return screen.note('There are no dead letters.')
        await screen.out(toTable(found.letters, screen, hub.clock.now()))
        if (found.more) await screen.note(`There are more than these ${limit}: --limit shows more.`)
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
    await screen.out(`${toTable(letters, screen, hub.clock.now())}\n${bodyText(body, screen)}`)
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

const toTable = (letters: readonly DeadLetter[], screen: Screen, now: number): string =>
  table(
    { id: 'right', to: 'left', from: 'left', subject: 'shrinks', attempts: 'right', died: 'left' },
    letters.map(({ message, recipient, attempts, diedAt }) => [
      String(message.id),
      toName(recipient),
      addressIn(recipient.project)(message.from),
      message.subject,
      String(attempts),
      when(screen, diedAt, now),
    ]),
    screen,
  )
