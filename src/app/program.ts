/** The command line: reads what is asked for, and turns failures into one message and an exit code. */
import { Command, CommanderError } from 'commander'
import { HubError } from '../base/errors.ts'
import { holdNewSpace } from '../base/heap.ts'
import type { Hub } from '../core/hub/hub.ts'
import { Fault } from '../db/faults.ts'
import type { Open } from '../doors/cli/commands.ts'
import type { Screen, Streams } from '../doors/cli/screen.ts'
import type { Config } from '../settings/all.ts'
import { ConfigError, readSettings, type Settings } from '../settings/read.ts'
import { version } from './version.ts'

/** What keeps a folder from being used as storage. */
const storageFaults: ReadonlySet<string | undefined> = new Set(
  'EACCES EPERM EROFS ENOTDIR EEXIST EISDIR ENAMETOOLONG ELOOP'.split(' '),
)

/** The process around it, or what a test puts in its place. */
export interface Surroundings extends Streams {
  readonly env: NodeJS.ProcessEnv
}

/** The exit code of what failed or only had to be explained; undefined where it went well, and a server goes on. */
export async function runProgram(args: readonly string[], around: Surroundings): Promise<number | undefined> {
  try {
    const program = await createProgram(args, around)
    await program.parseAsync(args, { from: 'user' })
    return undefined
  } catch (error) {
    // Commander has said what is wrong with the command line itself.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    around.stderr.write(`${explain(error)}\n`)
    return error instanceof ConfigError ? 2 : 1
  }
}

async function createProgram(args: readonly string[], around: Surroundings): Promise<Command> {
  const { env, stdout, stderr } = around
  const program = new Command('parley')
    .description('A hub where AI agents hold durable conversations over MCP, and where people watch and steer them.')
    .version(version)
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: (text) => void stderr.write(text) })
    .showHelpAfterError()
    .exitOverride()

  program
    .command('serve')
    .alias('serve-http')
    .description('serve every door over HTTP (settings: docs/config.md)')
    .option('--host <address>', 'the address to listen on (HTTP_HOST)')
    .option('--port <number>', 'the port to listen on, 0 for any free one (HTTP_PORT)')
    .option('--accept-loss', 'go on where acknowledged changes are missing from the database, without them')
    .action(async ({ host, port, acceptLoss }: { host?: string; port?: string; acceptLoss?: true }) => {
      const flags = { ...(host !== undefined && { HTTP_HOST: host }), ...(port !== undefined && { HTTP_PORT: port }) }
      const release = holdNewSpace()
      try {
        const { serve } = await import('./serve.ts')
        await serve(readSettings(env, { flags, workingFolder: true }), around, { acceptLoss })
      } finally {
        release()
      }
    })

  program
    .command('bus')
    .description('speak MCP over stdin and stdout, for a client that starts it: topics for peers on one machine')
    .option('--project <slug or key>', 'the project whose topics to use (default: commons)')
    .action(async ({ project }: { project?: string }) => {
      const { bus } = await import('./bus.ts')
      await bus(readSettings(env), project)
    })

  program
    .command('hub')
    .description('speak MCP over stdin and stdout, for a client that starts it: threads and messages of one agent')
    .option('--agent <name>', 'the agent that the client is (needed, unless PARLEY_API_KEY names it)')
    .option('--project <slug or key>', 'its project (default: commons)')
    .action(async (options: { agent?: string; project?: string }) => {
      const { hub } = await import('./hub.ts')
      await hub(readSettings(env), options)
    })

  program
    .command('mailbox')
    .description('be the mailbox client of one agent: MCP over stdin and stdout, a Parley server at the other end')
    .option('--bridge', 'no MCP: only bring new messages to an OpenClaw gateway, until a signal ends it')
    .addHelpText('after', mailboxHelp)
    .action(async ({ bridge = false }: { bridge?: boolean }) => {
      const { mailbox } = await import('./mailbox.ts')
      await mailbox(readSettings(env), { bridge })
    })

  // `parley topics …` and `parley help topics`.
  const asked = args.slice(0, 2)
  for (const { name, says, load } of commands) {
    if (asked.includes(name)) program.addCommand(await load(await commandParts(around, !isHook(asked))))
    else program.command(name).description(says)
  }
  return program
}

/** Its settings come from the environment alone, or from the file that PARLEY_ENV_FILE names. */
const mailboxHelp = `
Settings (environment, or the file that PARLEY_ENV_FILE names; docs/config.md has all):
  MAILBOX_SERVER_URL       the server, host:port or a URL (default 127.0.0.1:8765)
  MAILBOX_API_KEY          the key of the agent, from POST /agents/register
  OPENCLAW_GATEWAY_TOKEN   turns the bridge to OpenClaw on, beside the tools
  OPENCLAW_GATEWAY_URL     the gateway (default http://127.0.0.1:18789)
  OPENCLAW_REPLY_MODE      tool: the agent answers by mailbox_reply; inline: its answer is sent back`

/** What a hook of a repository calls, in that repository. */
const isHook = ([name, what]: readonly string[]): boolean => name === 'guard' && what === 'check'

interface CommandParts {
  readonly around: Surroundings
  readonly settings: () => Settings
  readonly config: () => Config
  readonly open: Open
  readonly screen: Screen
}

async function commandParts(around: Surroundings, workingFolder: boolean): Promise<CommandParts> {
  let read: Config | undefined
  // Once: a warning is told once as well.
  const settings = () => readSettings(around.env, { workingFolder })
  const config = () => {
    if (read !== undefined) return read
    const { config, warnings } = settings()
    for (const warning of warnings) around.stderr.write(`warning: ${warning}\n`)
    read = config
    return config
  }
  const { processScreen } = await import('../doors/cli/screen.ts')
  return {
    around,
    settings,
    config,
    open: Object.assign(async () => (await import('./open.ts')).openStore(config(), around.stderr), {
      asWhom: async (hub: Hub) => (await import('./own-caller.ts')).ownCaller(hub, config()),
    }),
    screen: processScreen(around),
  }
}

interface PeoplesCommand {
  readonly name: string
  readonly says: string
  readonly load: (parts: CommandParts) => Promise<Command>
}

/** For those who change Parley. */
const check = (name: 'lint' | 'typecheck', says: string): PeoplesCommand => ({
  name,
  says,
  load: async ({ screen }) => {
    const { checkCommand } = await import('../doors/cli/checks.ts')
    const run = async (write: (text: string) => Promise<void>) => (await import('./checks.ts')).runCheck(name, write)
    return checkCommand({ name, says, run }, screen)
  },
})

/** The commands for people: each is loaded only where it is asked for, and the others start without it. */
const commands: readonly PeoplesCommand[] = [
  {
    name: 'topics',
    says: 'follow topics live, write into them, keep them in order',
    load: async ({ open, screen }) => (await import('../doors/cli/topics.ts')).topicsCommand(open, screen),
  },
  {
    name: 'list-projects',
    says: 'list the projects there are, and with --include-agents their agents',
    load: async ({ open, screen }) => (await import('../doors/cli/projects.ts')).listProjectsCommand(open, screen),
  },
  {
    name: 'list-acks',
    says: 'list what an agent has not acknowledged',
    load: async ({ open, screen }) => (await import('../doors/cli/acks.ts')).listAcksCommand(open, screen),
  },
  {
    name: 'acks',
    says: 'show which acknowledgements an agent owes: pending, remind, overdue',
    load: async ({ open, config, screen }) =>
      (await import('../doors/cli/acks.ts')).acksCommand(open, () => config().ACK_TTL_SECONDS / 60, screen),
  },
  {
    name: 'file_reservations',
    says: 'show which paths agents have reserved, and free them: list, active, soon, release',
    load: async ({ open, screen }) => (await import('../doors/cli/leases.ts')).leasesCommand(open, screen),
  },
  {
    name: 'guard',
    says: 'keep commits off the files that other agents have reserved: install, uninstall, status, check',
    load: async ({ open, config, around, screen }) => {
      const { guardCommand } = await import('../doors/cli/guard.ts')
      const { guardSteering } = await import('./guard-steering.ts')
      return guardCommand(open, guardSteering(config, around), screen)
    },
  },
  {
    name: 'archive',
    says: 'compare the Git archive with the database, or make it anew: verify, rebuild',
    load: async ({ open, config, screen }) => {
      const { archiveCommand } = await import('../doors/cli/archive.ts')
      const { archiveSteering } = await import('./archive-steering.ts')
      return archiveCommand(open, () => archiveSteering(config()), screen)
    },
  },
  {
    name: 'keys',
    says: 'keys of agents: create, list, rotate, revoke',
    load: async ({ open, screen }) => (await import('../doors/cli/keys.ts')).keysCommand(open, screen),
  },
  {
    name: 'login',
    says: 'print a code for the login of the pages',
    load: async ({ open, config, around, screen }) => {
      const { loginCommand } = await import('../doors/cli/login.ts')
      const { keepSecret } = await import('./secret.ts')
      const { openLog } = await import('./open.ts')
      const secret = () => config().SECRET_KEY ?? keepSecret(config().STORAGE_ROOT, openLog(config(), around.stderr))
      return loginCommand(open, secret, screen)
    },
  },
  {
    name: 'export',
    says: 'write out a project or a thread, as Markdown or JSON',
    load: async ({ open, screen }) => (await import('../doors/cli/transfer.ts')).exportCommand(open, screen),
  },
  {
    name: 'import',
    says: 'take in a project or a thread that was exported as JSON',
    load: async ({ open, screen }) => (await import('../doors/cli/transfer.ts')).importCommand(open, screen),
  },
  {
    name: 'backup',
    says: 'write the whole store into one file, while servers run',
    load: async ({ open, config, screen }) => {
      const { backupCommand } = await import('../doors/cli/backup.ts')
      const { archiveFolder } = await import('./archive-place.ts')
      return backupCommand(open, () => ({ archives: archiveFolder(config()), parley: version }), screen)
    },
  },
  {
    name: 'restore',
    says: 'make a backup the store of this installation',
    load: async ({ config, screen }) => {
      const { restoreCommand } = await import('../doors/cli/restore.ts')
      return restoreCommand(async (wish) => (await import('./restore.ts')).restoreStore(config(), wish), screen)
    },
  },
  {
    name: 'clear-and-reset-everything',
    says: 'delete the database, the archives and the signing key, for good',
    load: async ({ config, screen }) => {
      const { clearCommand } = await import('../doors/cli/clear.ts')
      const { needUnused, removeStore, surveyStore } = await import('./store.ts')
      const clearing = () => ({
        survey: () => surveyStore(config()),
        needUnused: () => needUnused(config()),
        remove: () => removeStore(config()),
      })
      return clearCommand(clearing, screen)
    },
  },
  {
    name: 'doctor',
    says: 'look for what is wrong with this installation',
    load: async ({ settings, screen }) => {
      const { doctorCommand } = await import('../doors/cli/doctor.ts')
      const { examine } = await import('./doctor.ts')
      return doctorCommand(() => examine(settings), screen)
    },
  },
  check('lint', 'check the style of the source'),
  check('typecheck', 'check the types of the source'),
  {
    name: 'migrate',
    says: 'bring the database up to date',
    load: async ({ config, screen }) => {
      const { migrateCommand } = await import('../doors/cli/migrate.ts')
      return migrateCommand(async (wish) => (await import('./open.ts')).migrateDatabase(config(), wish), screen)
    },
  },
]

/** One clear message for what a person can put right; everything else keeps its trace. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
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
