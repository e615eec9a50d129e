/** The common part of the commands with which people read and write: by the store on this machine, or by a server. */
import { type Command, InvalidArgumentError } from 'commander'
import { type Desk, mostListed } from '../../words/desk.ts'
import { atLeast, newCommand, projectTyped, tellingPeople, withJson } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'

export interface Where {
  /** The URL of a server. */
  readonly server?: string
  /** Which of the keys that are held there. */
  readonly agent?: string
}

/** Opens the desk for one command. */
export type OpenDesk = (where: Where) => Promise<Desk>

export interface AtDesk {
  readonly desk: Desk
  readonly json: boolean
}

/** Closes the desk also when the work fails. */
export const atDesk = (
  open: OpenDesk,
  screen: Screen,
  { json, server, agent }: Where & { readonly json?: true },
  work: (at: AtDesk) => Promise<void>,
): Promise<void> =>
  tellingPeople(screen, async () => {
    const desk = await open({ ...(server !== undefined && { server }), ...(agent !== undefined && { agent }) })
    try {
      await work({ desk, json: json === true })
    } finally {
      await desk.close()
    }
  })

/** The lines of the help begin with the name of the command. */
export const peoplesCommand = (name: string, says: string, screen: Screen, ...shown: string[]): Command =>
  asAgent(personsCommand(name, says, screen, ...shown))

/** The same for a command that no agent may use. */
export const personsCommand = (name: string, says: string, screen: Screen, ...shown: string[]): Command =>
  withJson(
    atServer(newCommand(name, screen).description(says)),
    ...shown.map((line) => `${name} ${line}`.trimEnd()),
    `${name} ${shown[0] ?? ''}`.trimEnd().concat(' --server https://parley.example'),
  )

export const ofServer = (command: Command): Command => asAgent(atServer(command))

const atServer = (command: Command): Command =>
  command.option('--server <url>', 'ask this server instead of the store on this machine (PARLEY_SERVER)')

const asAgent = (command: Command): Command =>
  command.option(
    '--agent <name>',
    'with --server: as the agent whose key `parley join` has stored, instead of as a person',
  )

export const ofProject = (command: Command, says = 'only this project'): Command =>
  command.option('--project <slug or key>', says, projectTyped)

export const atMost = (command: Command, usual: number): Command =>
  command.option(
    '--limit <n>',
    `how many at most, up to ${mostListed}`,
    (given) => {
      const limit = atLeast(1)(given)
      if (limit > mostListed) throw new InvalidArgumentError(`It must be ${mostListed} at most.`)
      return limit
    },
    usual,
  )
