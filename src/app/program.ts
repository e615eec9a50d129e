/** The command line: reads what is asked for, and turns failures into one message and an exit code. */
import { Command, CommanderError, Option } from 'commander'
import { HubError } from '../base/errors.ts'
import { boundHeap } from '../base/heap.ts'
import { nearest } from '../base/nearest.ts'
import { echo } from '../base/text.ts'
import { Fault } from '../db/faults.ts'
import { ConfigError, readSettings, sourcesIn } from '../settings/read.ts'
import { type CommandParts, commandParts, type Surroundings } from './command-parts.ts'
import { commands } from './commands.ts'
import type { ConnectOptions } from './connect.ts'
import { version } from './version.ts'

/** Errors that keep a folder from being used as storage. */
const storageFaults: ReadonlySet<string | undefined> = new Set(
  'EACCES EPERM EROFS ENOTDIR EEXIST EISDIR ENAMETOOLONG ELOOP'.split(' '),
)

/** The exit codes of all commands but `wait` and `hook`, whose own are in docs/waking.md. */
export const exitCodes = { done: 0, failed: 1, misused: 2 } as const

/** The exit code of what failed or only had to be explained; undefined where it went well, and a server goes on. */
export async function runProgram(args: readonly string[], around: Surroundings): Promise<number | undefined> {
  try {
    const program = await createProgram(args, around)
    const stranger = unknownCommand(program, args)
    if (stranger !== undefined) {
      around.stderr.write(stranger)
      return args[0] === 'help' || asksForHelp(args) ? exitCodes.failed : exitCodes.misused
    }
    await program.parseAsync(args, { from: 'user' })
    return undefined
  } catch (error) {
    // Commander has said what is wrong with the command line itself.
    if (error instanceof CommanderError) return ownExitCode(error)
    around.stderr.write(`${error instanceof ConfigError ? sourced(error, around) : explain(error)}\n`)
    return error instanceof ConfigError ? exitCodes.misused : exitCodes.failed
  }
}

/** A command of ours chooses its exit code; a mistake in the command line is 2. */
const ownExitCode = ({ code, exitCode }: CommanderError): number =>
  exitCode === exitCodes.done || code.startsWith('parley.') ? exitCode : exitCodes.misused

/** `whole` loads every command, for completions and the manual page. */
export async function createProgram(args: readonly string[], around: Surroundings, whole = false): Promise<Command> {
  const { env, checkout, stdout, stderr } = around
  const program = new Command('parley')
    .description('A hub where AI agents hold durable conversations over MCP, and where people watch and steer them.')
    .version(version)
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: (text) => void stderr.write(text) })
    .showHelpAfterError('`parley --help` lists the commands.')
    .exitOverride()

  program
    .command('serve')
    .alias('serve-http')
    .description('serve every door over HTTP (settings: docs/settings.md)')
    .option('--host <address>', 'the address to listen on (HTTP_HOST)')
    .option('--port <number>', 'the port to listen on, 0 for any free one (HTTP_PORT)')
    .option('--workers <number>', 'processes that serve it together, or auto: one for each core (HTTP_WORKERS)')
    .option('--accept-loss', 'start although acknowledged changes are missing from the database')
    .option('--detach', 'serve in the background: `parley status` shows it, `parley stop` ends it')
    .action(async ({ host, port, workers, acceptLoss, detach }: ServeOptions) => {
      const flags = {
        ...(host !== undefined && { HTTP_HOST: host }),
        ...(port !== undefined && { HTTP_PORT: port }),
        ...(workers !== undefined && { HTTP_WORKERS: workers }),
      }
      if (detach) {
        const { serveDetached, serveLog } = await import('./detach.ts')
        const { config } = readSettings(env, { flags, checkout })
        const server = await serveDetached(
          config,
          args.slice(1).filter((word) => word !== '--detach'),
          env,
        )
        stdout.write(
          `Parley ${server.version} is ready at ${server.url} (process ${server.pid}). Its log: ${serveLog(config.STORAGE_ROOT)}\n`,
        )
        return
      }
      const started = boundHeap()
      const { serve } = await import('./serve-process.ts')
      const { withToken } = await import('./token.ts')
      const settings = readSettings(env, { flags, checkout })
      await serve({ ...settings, config: withToken(settings.config) }, around, { acceptLoss })
      started()
    })

  program
    .command('bus')
    .description('speak MCP over stdin and stdout, for a client that starts it: topics for peers on one machine')
    .option('--agent <name>', 'the name to join topics under (default: AGENT_NAME, else as each topic_join says)')
    .option('--project <slug or key>', 'the project whose topics to use (default: commons)')
    .action(async ({ project, agent = env.AGENT_NAME || undefined }: { project?: string; agent?: string }) => {
      speaksMcp('bus', around)
      const { bus } = await import('./bus.ts')
      await bus(readSettings(env, { checkout }), { project, agent })
    })

  program
    .command('hub')
    .description('speak MCP over stdin and stdout, for a client that starts it: threads and messages of one agent')
    .option(
      '--agent <name>',
      'the agent that the client is (default: AGENT_NAME; not needed where PARLEY_API_KEY names it)',
    )
    .option('--project <slug or key>', 'its project (default: commons)')
    .action(async (options: { agent?: string; project?: string }) => {
      speaksMcp('hub', around)
      const { hub } = await import('./hub.ts')
      const agent = options.agent ?? (env.AGENT_NAME || undefined)
      await hub(readSettings(env, { checkout }), agent === undefined ? options : { ...options, agent })
    })

  program
    .command('mailbox')
    .description(
      'run the client of the post door for one agent: MCP over stdin and stdout, connected to a Parley server',
    )
    .option('--bridge', 'no MCP: only bring new messages to an OpenClaw gateway, until a signal ends it')
    .addHelpText('after', mailboxHelp)
    .action(async ({ bridge = false }: { bridge?: boolean }) => {
      if (!bridge) speaksMcp('mailbox', around)
      const { mailbox } = await import('./mailbox.ts')
      await mailbox(readSettings(env, { checkout }), { bridge })
    })

  program
    .command('connect')
    .description(
      'speak MCP over stdin and stdout, for a client that starts it: forwards to a door of any Parley server',
    )
    .option('--server <url>', 'the server (default: PARLEY_SERVER, else the one of this store)')
    .option('--door <door>', 'mail, mailbox, hub or bus (default: that of the invitation, else mail)')
    .option('--agent <name>', 'the agent that the client is (default: AGENT_NAME, or the one whose key is held)')
    .option(
      '--project <slug or key>',
      'its project (default at the mail door: the repository around the working folder)',
    )
    .action(async (options: ConnectOptions) => {
      speaksMcp('connect', around)
      const { connect } = await import('./connect.ts')
      await connect(options, { env, checkout })
    })

  // `parley topics …` and `parley help topics`.
  const asked = args.slice(0, 2)
  let parts: Promise<CommandParts> | undefined
  for (const { name, says, load, hidden = false } of commands) {
    if (whole || asked.includes(name)) {
      parts ??= commandParts(around, () => createProgram([], around, true))
      program.addCommand(await load(await parts), { hidden })
    } else program.command(name, { hidden }).description(says)
  }
  takeBothWords(program)
  return program
}

/** One line for a command that is not there, also in `parley help frob` and `parley frob --help`, where the whole help would not say so. */
function unknownCommand(program: Command, args: readonly string[]): string | undefined {
  const words = args[0] === 'help' ? args.slice(1) : args
  let [command, path] = [program, 'parley']
  for (const word of words) {
    if (word === 'help') continue
    if (word.startsWith('-') || command.commands.length === 0) return undefined
    const found = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (found === undefined) {
      const names = command.commands.map((one) => one.name())
      const meant = nearest(word, names, 1).map((name) => ` Did you mean ${name}?`)
      return `error: unknown command '${echo(word)}'.${meant.join('')} \`${path} --help\` lists the commands.\n`
    }
    ;[command, path] = [found, `${path} ${word}`]
  }
  return undefined
}

const asksForHelp = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).some((word) => word === '--help' || word === '-h')
}

/** `--yes` and `--force`: where one goes on without asking, or over what is there, the other is taken silently. */
function takeBothWords(command: Command): void {
  for (const [shown, other] of [
    ['yes', 'force'],
    ['force', 'yes'],
  ] as const) {
    const flags = command.options.map((option) => option.attributeName())
    if (!flags.includes(shown) || flags.includes(other)) continue
    command.addOption(new Option(`--${other}`).hideHelp())
    command.on(`option:${other}`, () => command.setOptionValue(shown, true))
  }
  for (const each of command.commands) takeBothWords(each)
}

interface ServeOptions {
  readonly host?: string
  readonly port?: string
  readonly workers?: string
  readonly acceptLoss?: true
  readonly detach?: true
}

/** A person who types such a command would see a program that does nothing. */
function speaksMcp(name: string, { stdin, stderr }: Surroundings): void {
  if (stdin.isTTY === true)
    stderr.write(`parley ${name} speaks MCP on stdin: a client starts it. docs/clients.md says how. Ctrl-C ends it.\n`)
}

const mailboxHelp = `
Settings (environment, PARLEY_ENV_FILE or ~/.parley/.env; docs/settings.md has all):
  MAILBOX_SERVER_URL       the server, host:port or a URL (default 127.0.0.1:8765)
  MAILBOX_API_KEY          the key of the agent, from POST /agents/register
  OPENCLAW_GATEWAY_TOKEN   turns the bridge to OpenClaw on, beside the tools
  OPENCLAW_GATEWAY_URL     the gateway (default http://127.0.0.1:18789)
  OPENCLAW_REPLY_MODE      tool: the agent answers by mailbox_reply; inline: its answer is sent back`

/** A fault that shows only when a setting is used, such as a file that is not there, names where it comes from as the others do. */
function sourced({ message }: ConfigError, { env, checkout }: Surroundings): string {
  try {
    return `${message}${sourcesIn(message, readSettings(env, { checkout }).sources)}`
  } catch {
    return message
  }
}

/** One clear message for what a person can put right; everything else keeps its trace. */
function explain(error: unknown): string {
  if (error instanceof HubError) return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`
  if (error instanceof Fault)
    return `Parley cannot use its database: ${error.message}.\nName another one with STORAGE_ROOT or DATABASE_URL, or bring back a copy of this one.`
  const { code, path, message, stack } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `Parley cannot write to ${path ?? 'its storage folder'}: ${message}\nMake room on that disk, or set STORAGE_ROOT to a folder on another one.`
  if (storageFaults.has(code))
    return `Parley cannot use ${path ?? 'its storage folder'}: ${message}\nSet STORAGE_ROOT to a folder that this user may write to.`
  return `Parley failed: ${stack ?? String(error)}`
}
