/** The parts of the commands: settings, the store and the screen, each reached only by a command that asks for it. */
import type { Command } from 'commander'
import type { Hub } from '../core/hub/hub.ts'
import type { Open } from '../doors/cli/commands.ts'
import type { OpenDesk } from '../doors/cli/people/person.ts'
import type { Screen, Streams } from '../doors/cli/terminal/screen.ts'
import type { Config } from '../settings/all.ts'
import { readSettings, type Settings } from '../settings/read.ts'

/** The process around it, or what a test puts in its place. */
export interface Surroundings extends Streams {
  readonly env: NodeJS.ProcessEnv
  /** The folder of the checkout that the program runs from, if it does. */
  readonly checkout?: string | undefined
}

export interface CommandParts {
  readonly around: Surroundings
  readonly settings: () => Settings
  readonly config: () => Config
  readonly open: Open
  readonly openDesk: OpenDesk
  readonly screen: Screen
  /** The same for a command that makes a store where there is none. */
  readonly make: () => Promise<Hub>
  /** The program with all of its commands. */
  readonly program: () => Promise<Command>
}

/** A command for people, loaded only where it is asked for. */
export interface PeoplesCommand {
  readonly name: string
  readonly says: string
  /** Left out of the help: it is for those who change Parley. */
  readonly hidden?: boolean
  readonly load: (parts: CommandParts) => Promise<Command>
}

export async function commandParts(around: Surroundings, program: CommandParts['program']): Promise<CommandParts> {
  let read: Config | undefined
  // Once: a warning is told once as well.
  const settings = () => readSettings(around.env, { checkout: around.checkout })
  const config = () => {
    if (read !== undefined) return read
    const { config, warnings } = settings()
    for (const warning of warnings) around.stderr.write(`warning: ${warning}\n`)
    read = withToken(config)
    return read
  }
  const { withToken } = await import('./token.ts')
  const { processScreen } = await import('../doors/cli/terminal/screen.ts')
  return {
    around,
    program,
    settings,
    config,
    open: Object.assign(async () => opened(config(), around), {
      asWhom: async (hub: Hub) => (await import('./own-caller.ts')).ownCaller(hub, config()),
    }),
    make: async () => opened(config(), around, { make: true }),
    openDesk: async (where) =>
      (await import('./desk.ts')).openDesk(config(), where, { ...around, open: () => opened(config(), around) }),
    screen: processScreen(around),
  }
}

/** A person who looks into another store than their server does is told so. */
async function opened(config: Config, { stderr }: Surroundings, options?: { make: true }): Promise<Hub> {
  const { openStore, storeMark } = await import('./open.ts')
  const { storageName } = await import('./database-place.ts')
  const { serverElsewhere } = await import('./local-store-only.ts')
  const elsewhere = serverElsewhere(config)
  if (elsewhere !== undefined)
    stderr.write(
      `warning: PARLEY_SERVER is ${elsewhere}, and this command works in the store here, ${storageName(config)}.\n`,
    )
  // A command tells people itself what it did; an entry of the log beside that would say it twice.
  const quiet: Config = config.LOG_LEVEL === 'info' ? { ...config, LOG_LEVEL: 'warn' } : config
  const hub = await openStore(quiet, stderr, options)
  const { warnOfOtherStore } = await import('./other-store.ts')
  const { serverUrl } = await import('./running.ts')
  const warning = await warnOfOtherStore({
    storageRoot: config.STORAGE_ROOT,
    url: serverUrl(config),
    store: storageName(config),
    id: () => storeMark(hub, config),
  })
  if (warning !== undefined) stderr.write(`warning: ${warning}\n`)
  return hub
}
