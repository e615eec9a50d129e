/** `parley call` and `parley resource`: one tool call or one resource of a server, as JSON, for scripts. */
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { examples, newCommand, tellingPeople } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { harmlessJson, harmlessText } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'

/** Where to call, and as whom. */
export interface CallWish {
  readonly server?: string
  readonly door?: string
  readonly agent?: string
  readonly project?: string
}

export interface ServerCalls {
  /** Its structured result, or its text where it has no other. */
  tool(name: string, args: object, wish: CallWish): Promise<unknown>
  /** The document, or its text where it is no JSON. */
  resource(uri: string, wish: CallWish): Promise<unknown>
}

export const callCommand = (calls: ServerCalls, screen: Screen): Command =>
  withWish(newCommand('call', screen).description('call a tool of a running server, and print its result as JSON'))
    .argument('<tool>', 'its name, as docs/tools.md has it')
    .argument('[json]', 'its arguments as a JSON object; - reads them from stdin', '{}')
    .addHelpText(
      'after',
      examples(
        `call macro_start_session '{"human_key": "/srv/backend"}'`,
        `call check_mail '{"wait_seconds": 20}' --door mailbox --agent bob`,
      ),
    )
    .action((tool: string, json: string, wish: CallWish) =>
      tellingPeople(screen, async () => {
        const args = objectIn(json === '-' ? await text(screen.input.read()) : json)
        await show(screen, await calls.tool(tool, args, wish))
      }),
    )

export const resourceCommand = (calls: ServerCalls, screen: Screen): Command =>
  withWish(newCommand('resource', screen).description('read a resource of a running server, and print it as JSON'))
    .argument('<uri>', 'such as resource://inbox/BlueLake?project=/srv/backend')
    .addHelpText('after', examples(`resource 'resource://inbox/BlueLake?project=/srv/backend&limit=10'`))
    .action((uri: string, wish: CallWish) =>
      tellingPeople(screen, async () => show(screen, await calls.resource(uri, wish))),
    )

const withWish = (command: Command): Command =>
  command
    .option('--server <url>', 'the server (default: PARLEY_SERVER, else the one of this store)')
    .option('--door <door>', 'mail, mailbox, hub or bus (default: mail)')
    .option('--agent <name>', 'the agent that calls (default: AGENT_NAME, or the one whose key is held)')
    .option('--project <slug or key>', 'its project, where the arguments do not say it')

function objectIn(json: string): object {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Told below, as every other value that is no object.
  }
  throw new UsageError('The arguments are no JSON object.', `Write them as one word: '{"name": "value"}'.`)
}

const show = ({ out }: Screen, result: unknown): Promise<void> =>
  out(`${typeof result === 'string' ? harmlessText(result) : harmlessJson(result as object)}\n`)
