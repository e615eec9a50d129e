/** The common part of all commands for people: output, failures, help. */
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { type Caller, local } from '../../core/access/callers.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { forPeople, UsageError } from './failures.ts'
import type { Screen } from './screen.ts'

/** Opens the hub for one command. */
export interface Open {
  (): Promise<Hub>
  /** Whoever types the command, where that is not just anybody of this machine. */
  asWhom?(hub: Hub): Promise<Caller>
}

/** The caller of a command that acts in an agent's name. */
export const callerOf = async (open: Open, hub: Hub): Promise<Caller> => (await open.asWhom?.(hub)) ?? local

/** A command that writes to the screen; where it is used wrongly it says so, and throws a CommanderError. */
export function newCommand(name: string, screen: Screen): Command {
  return new Command(name)
    .configureOutput({ writeOut: (text) => void screen.out(text), writeErr: (text) => void screen.err(text) })
    .exitOverride()
    .showHelpAfterError('--help shows how it goes.')
}

/** Closes the hub also when the work fails. */
export const withHub = (open: Open, screen: Screen, work: (hub: Hub) => Promise<void>): Promise<void> =>
  tellingPeople(screen, async () => {
    const hub = await open()
    try {
      await work(hub)
    } finally {
      await hub.close()
    }
  })

/** Failures are told as people at a command line need it. */
export async function tellingPeople(screen: Screen, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof UsageError)) throw forPeople(error)
    await screen.err(`error: ${error.message}\n${error.hint}\n`)
    throw new CommanderError(2, 'parley.usage', error.message)
  }
}

/** The end of a help text: lines as they are typed, after `parley`. */
export const examples = (...lines: string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  parley ${line}`).join('\n')}\n`

/** Reads an argument that is a whole number; `#12` is the message 12. */
export const atLeast =
  (least: number) =>
  (given: string): number => {
    const value = /^#?\d{1,15}$/.test(given) ? Number(given.replace('#', '')) : Number.NaN
    if (!(value >= least)) throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`)
    return value
  }
