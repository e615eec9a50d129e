/** `parley topics`: the commands with which people follow, steer and keep topics. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { commons } from '../../../base/names.ts'
import { atLeast, callerOf, examples, newCommand, type Open, projectTyped, withHub, withJson } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { atDesk, type OpenDesk, ofServer, type Where } from '../people/person.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Exporting, exportCommand } from './export-topic.ts'
import { type Desk, listCommand, presenceCommand, showCommand } from './reading.ts'
import { type From, watchCommand } from './watch.ts'
import { createCommand, deleteCommand, renameCommand, sendCommand } from './writing.ts'

interface Shared {
  readonly project: string
  readonly json?: true
}

const called = 'the id of a topic, or its name: the newest open one of that name, else a closed one'

interface Opening {
  readonly open: Open
  /** For what is also done by a server. */
  readonly openDesk: OpenDesk
}

export function topicsCommand({ open, openDesk }: Opening, screen: Screen): Command {
  const topics = newCommand('topics', screen)
    .description('follow topics live, write into them, keep them in order')
    .addHelpText(
      'after',
      examples('topics list', 'topics watch planning', 'topics send planning "Please stop and read #12."'),
    )

  const command = (name: string, description: string, ...shown: string[]): Command => {
    const made = topics.command(name).description(description)
    if (name !== 'list' && name !== 'create') made.argument('<topic>', called)
    made.option('--project <slug or key>', 'the project of the topic', projectTyped, commons)
    return withJson(made, ...shown.map((line) => `topics ${name} ${line}`.trimEnd()))
  }

  const run = ({ project, json }: Shared, work: (desk: Desk) => Promise<void>): Promise<void> =>
    withHub(open, screen, async (hub) =>
      work({ hub, caller: await callerOf(open, hub), screen, project, json: json === true }),
    )

  /** For a command whose arguments are the topic and options. */
  const onTopic =
    <Wish extends object>(work: (desk: Desk, wish: Wish & { readonly topic: string }) => Promise<void>) =>
    (topic: string, options: Shared & Wish): Promise<void> =>
      run(options, (desk) => work(desk, { ...options, topic }))

  command('list', 'list topics, the one with the latest activity first', '', '--status all --json')
    .addOption(new Option('--status <status>', 'which ones').choices(['open', 'closed', 'all']).default('open'))
    .action((options: Shared & { status: 'open' | 'closed' | 'all' }) =>
      run(options, (desk) => listCommand(desk, options)),
    )

  ofServer(
    command(
      'create',
      'make a topic; an open topic of that name stays unchanged',
      'planning',
      'planning --project backend',
    ),
  )
    .argument('<name>', 'the name of the topic')
    .action((name: string, options: Shared & Where) =>
      atDesk(openDesk, screen, options, (at) => createCommand(at, screen, { name, project: options.project })),
    )

  command('show', 'show the newest messages of a topic', 'planning', 'planning --limit 50 --before 120')
    .option('--limit <n>', 'how many messages', atLeast(1), 20)
    .option('--before <seq>', 'only messages before this one', atLeast(1))
    .action(onTopic(showCommand))

  command('watch', 'follow a topic live, until Ctrl-C', 'planning', 'planning --from now --json | jq .sender')
    .option('--from <seq | now>', 'where to begin; without it the last 10 messages are shown first', from)
    .action(onTopic(watchCommand))

  command('presence', 'show who reads a topic, and how far each has come', 'planning --window 3600')
    .option('--window <seconds>', 'only peers seen within this time', atLeast(1), 300)
    .action(onTopic(presenceCommand))

  command(
    'export',
    'write out a whole topic: md for people, jsonl with every field for programs',
    'planning > planning.md',
    'planning --format jsonl --output planning.jsonl',
  )
    .addOption(new Option('--format <format>', 'what to write').choices(['md', 'jsonl']).default('md'))
    .option('--output <file>', 'where to, instead of standard output')
    .action((topic: string, options: Shared & Exporting, command: Command) =>
      run(options, (desk) => {
        if (desk.json && options.output === undefined && command.getOptionValueSource('format') === 'cli')
          throw new UsageError('--json and --format are two forms of one answer.', 'Leave one out, or add --output.')
        return exportCommand(desk, { ...options, topic })
      }),
    )

  command('rename', 'give a topic another name', 'planning "planning 2027"')
    .argument('<name>', 'the new name')
    .action((topic: string, name: string, options: Shared) =>
      run(options, (desk) => renameCommand(desk, { topic, name })),
    )

  command('delete', 'delete a topic and all its messages, for good', 'planning', 'planning --force')
    .option('--force', 'do it without asking')
    .action(onTopic(deleteCommand))

  command(
    'send',
    'write into a topic without joining it',
    'planning Looks good to me.',
    'planning --type question --reply-to 12 "Which cache?"',
    'planning --as overseer < notes.md',
    'planning -- --this begins with a dash',
  )
    .argument('[text...]', 'the message; without it, it is read from standard input')
    .option('--as <name>', 'the sender (default: the agent of your key, else your login name)')
    .option('--type <type>', 'the kind of message: message, question, answer, event, …', 'message')
    .option('--reply-to <seq or id>', 'the message that this one answers')
    .action((topic: string, words: string[], options: Shared & { as?: string; type: string; replyTo?: string }) =>
      run(options, (desk) => sendCommand(desk, { ...options, topic, words })),
    )

  return topics
}

function from(given: string): From {
  if (given === 'now') return given
  try {
    return atLeast(1)(given)
  } catch {
    throw new InvalidArgumentError('It must be the number of a message, or "now".')
  }
}
