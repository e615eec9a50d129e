/** `parley topics`: the commands with which people follow, steer and keep topics. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { commons } from '../../base/names.ts'
import { atLeast, callerOf, examples as examplesOf, newCommand, type Open, withHub } from './commands.ts'
import { exportCommand, type Format } from './exporting.ts'
import { UsageError } from './failures.ts'
import { type Desk, listCommand, presenceCommand, showCommand } from './reading.ts'
import type { Screen } from './screen.ts'
import { type From, watchCommand } from './watching.ts'
import { deleteCommand, renameCommand, sendCommand } from './writing.ts'

interface Shared {
  readonly project: string
  readonly json?: true
}

const called = 'the id of a topic, or its name: the newest open one of that name, else a closed one'

export function topicsCommand(open: Open, screen: Screen): Command {
  const topics = newCommand('topics', screen)
    .description('follow topics live, write into them, keep them in order')
    .addHelpText('after', examples('list', 'watch planning', 'send planning "Please stop and read #12."'))

  const command = (usage: string, description: string, ...shown: string[]): Command =>
    topics
      .command(usage)
      .description(description)
      .option('--project <slug or key>', 'the project of the topic', commons)
      .option('--json', 'answer with JSON, for programs')
      .addHelpText('after', examples(...shown))

  const run = ({ project, json }: Shared, work: (desk: Desk) => Promise<void>): Promise<void> =>
    withHub(open, screen, async (hub) =>
      work({ hub, caller: await callerOf(open, hub), screen, project, json: json === true }),
    )

  command('list', 'list topics, the one with the latest activity first', 'list', 'list --status all --json')
    .addOption(new Option('--status <status>', 'which ones').choices(['open', 'closed', 'all']).default('open'))
    .action((options: Shared & { status: 'open' | 'closed' | 'all' }) =>
      run(options, (desk) => listCommand(desk, options)),
    )

  command('show', 'show the newest messages of a topic', 'show planning', 'show planning --limit 50 --before 120')
    .argument('<topic>', called)
    .option('--limit <n>', 'how many messages', atLeast(1), 20)
    .option('--before <seq>', 'only what was said before this message', atLeast(1))
    .action((topic: string, options: Shared & { limit: number; before?: number }) =>
      run(options, (desk) => showCommand(desk, { topic, limit: options.limit, before: options.before })),
    )

  command(
    'watch',
    'follow a topic live, until Ctrl-C',
    'watch planning',
    'watch planning --from now --json | jq .sender',
  )
    .argument('<topic>', called)
    .option('--from <seq | now>', 'where to begin; without it the last 10 messages are shown first', place)
    .action((topic: string, options: Shared & { from?: From }) =>
      run(options, (desk) => watchCommand(desk, { topic, from: options.from })),
    )

  command('presence', 'show who reads a topic, and how far each has come', 'presence planning --window 3600')
    .argument('<topic>', called)
    .option('--window <seconds>', 'who was there within this time', atLeast(1), 300)
    .action((topic: string, options: Shared & { window: number }) =>
      run(options, (desk) => presenceCommand(desk, { topic, window: options.window })),
    )

  command(
    'export',
    'write out a whole topic: md to be read, jsonl to the last character',
    'export planning > planning.md',
    'export planning --format jsonl --output planning.jsonl',
  )
    .argument('<topic>', called)
    .addOption(new Option('--format <format>', 'what to write').choices(['md', 'jsonl']).default('md'))
    .option('--output <file>', 'where to, instead of standard output')
    .action((topic: string, options: Shared & { format: Format; output?: string }, command: Command) =>
      run(options, (desk) => {
        const { format, output } = options
        if (desk.json && output === undefined && command.getOptionValueSource('format') === 'cli')
          throw new UsageError('--json and --format are two forms of one answer.', 'Leave one out, or add --output.')
        return exportCommand(desk, { topic, format, output })
      }),
    )

  command('rename', 'give a topic another name', 'rename planning "planning 2027"')
    .argument('<topic>', called)
    .argument('<name>', 'the new name')
    .action((topic: string, name: string, options: Shared) =>
      run(options, (desk) => renameCommand(desk, { topic, name })),
    )

  command('delete', 'delete a topic and all its messages, for good', 'delete planning', 'delete planning --force')
    .argument('<topic>', called)
    .option('--force', 'do it without asking')
    .action((topic: string, options: Shared & { force?: true }) =>
      run(options, (desk) => deleteCommand(desk, { topic, force: options.force === true })),
    )

  command(
    'send',
    'write into a topic without joining it',
    'send planning Looks good to me.',
    'send planning --type question --reply-to 12 "Which cache?"',
    'send planning --as overseer < notes.md',
    'send planning -- --this begins with a dash',
  )
    .argument('<topic>', called)
    .argument('[text...]', 'the message; without it, it is read from standard input')
    .option('--as <name>', 'under which name (default: that of your key, else your login name)')
    .option('--type <type>', 'what kind of message: message, question, answer, event, …', 'message')
    .option('--reply-to <seq or id>', 'the message that this one answers')
    .action((topic: string, words: string[], options: Shared & SendOptions) =>
      run(options, (desk) => {
        const { as, type, replyTo } = options
        return sendCommand(desk, { topic, words, as, type, replyTo })
      }),
    )

  return topics
}

interface SendOptions {
  readonly as?: string
  readonly type: string
  readonly replyTo?: string
}

const examples = (...lines: string[]): string => examplesOf(...lines.map((line) => `topics ${line}`))

function place(given: string): From {
  if (given === 'now') return given
  try {
    return atLeast(1)(given)
  } catch {
    throw new InvalidArgumentError('It must be the number of a message, or "now".')
  }
}
