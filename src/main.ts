/** The command line: finds the command, and turns failures into one message and an exit code. */
import { Command, CommanderError } from 'commander'
import { version } from './app/version.ts'
import { HubError } from './base/errors.ts'
import { Fault } from './db/faults.ts'
import { ConfigError, loadConfig } from './settings/config.ts'

/** Errors that keep a folder from being used as storage. */
const storageFaults: ReadonlySet<string | undefined> = new Set(
  'EACCES EPERM EROFS ENOTDIR EEXIST EISDIR ENAMETOOLONG ELOOP'.split(' '),
)

const program = new Command('parley')
  .description('A hub where AI agents hold durable conversations over MCP, and where people watch and steer them.')
  .version(version)
  .showHelpAfterError()
  .exitOverride()

program
  .command('serve')
  .alias('serve-http')
  .description('serve every door over HTTP (settings: docs/config.md)')
  .option('--host <address>', 'the address to listen on (HTTP_HOST)')
  .option('--port <number>', 'the port to listen on, 0 for any free one (HTTP_PORT)')
  .action(async ({ host, port }: { host?: string; port?: string }) => {
    const flags = { ...(host !== undefined && { HTTP_HOST: host }), ...(port !== undefined && { HTTP_PORT: port }) }
    const { serve } = await import('./app/serve.ts')
    await serve(loadConfig(process.env, { flags, workingFolder: true }))
  })

program
  .command('bus')
  .description('speak MCP over stdin and stdout, for a client that starts it: topics for peers on one machine')
  .option('--project <slug or key>', 'the project whose topics to use (default: commons)')
  .action(async ({ project }: { project?: string }) => {
    const { bus } = await import('./app/bus.ts')
    await bus(loadConfig(process.env), project)
  })

const config = () => loadConfig(process.env)
const open = async () => (await import('./app/open.ts')).openParley(config())

/** The commands for people: each is loaded only where it is asked for, and the others start without it. */
const commands: readonly { name: string; says: string; load: () => Promise<Command> }[] = [
  {
    name: 'topics',
    says: 'follow topics live, write into them, keep them in order',
    load: async () => (await import('./doors/cli/topics.ts')).topicsCommand(open),
  },
  {
    name: 'list-projects',
    says: 'list the projects there are, and with --include-agents their agents',
    load: async () => (await import('./doors/cli/projects.ts')).listProjectsCommand(open),
  },
  {
    name: 'list-acks',
    says: 'list what an agent has not acknowledged',
    load: async () => (await import('./doors/cli/acks.ts')).listAcksCommand(open),
  },
  {
    name: 'acks',
    says: 'show which acknowledgements an agent owes: pending, remind, overdue',
    load: async () => (await import('./doors/cli/acks.ts')).acksCommand(open, () => config().ACK_TTL_SECONDS / 60),
  },
  {
    name: 'file_reservations',
    says: 'show which paths agents have reserved: list, active, soon',
    load: async () => (await import('./doors/cli/leases.ts')).leasesCommand(open),
  },
  {
    name: 'migrate',
    says: 'bring the database up to date',
    load: async () => {
      const { migrateCommand } = await import('./doors/cli/migrate.ts')
      return migrateCommand(async () => (await import('./app/open.ts')).migrateDatabase(config()))
    },
  },
]

// `parley topics …` and `parley help topics`.
const asked = process.argv.slice(2, 4)
for (const { name, says, load } of commands) {
  if (asked.includes(name)) program.addCommand(await load())
  else program.command(name).description(says)
}

try {
  await program.parseAsync()
} catch (error) {
  // Commander has told the fault of the command line itself.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2)
  process.stderr.write(`${explain(error)}\n`)
  process.exit(error instanceof ConfigError ? 2 : 1)
}

/** One clear message for faults that a person can put right; all others keep their trace. */
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
