/** The common part of all commands for people: output, failures, questions, help. */
import { resolve } from 'node:path'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { HubError } from '../../base/errors.ts'
import type { Caller } from '../../core/access/callers.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { forPeople, UsageError } from './failures.ts'
import { harmlessJson } from './terminal/harmless.ts'
import type { Screen } from './terminal/screen.ts'
import { type Columns, table } from './terminal/tables.ts'
import { loadWidths } from './terminal/width.ts'

/** Opens the hub for one command. */
export interface Open {
  (): Promise<Hub>
  /** The owner of PARLEY_API_KEY, if it is set. */
  asWhom?(hub: Hub): Promise<Caller>
}

/** The caller of a command that acts in an agent's name. */
export async function callerOf(open: Open, hub: Hub): Promise<Caller> {
  const own = await open.asWhom?.(hub)
  // Imported only here: commands that ask a server load nothing of core (cli.people.light).
  return own ?? (await import('../../core/access/callers.ts')).local
}

/** A command that writes to the screen; where it is used wrongly it says so, and throws a CommanderError. */
export function newCommand(name: string, screen: Screen): Command {
  return new Command(name)
    .configureOutput({ writeOut: (text) => void screen.out(text), writeErr: (text) => void screen.err(text) })
    .exitOverride()
    .showHelpAfterError('--help shows how to use it.')
}

/** The option `--json`, and the examples at the end of the help: lines as they are typed, after `parley`. */
export const withJson = (command: Command, ...shown: string[]): Command =>
  command.option('--json', 'answer with JSON, for programs').addHelpText('after', examples(...shown))

export const examples = (...lines: string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  parley ${line}`).join('\n')}\n`

/** Beside a list in JSON: whether there is more, and how to see it (all.lists.more). */
export const moreWords = (more: boolean, how: string) => ({ has_more: more, ...(more && { note: how }) })

/** Of a list that `--limit` cuts. */
export const higherLimit = 'There are more: --limit shows them.'

interface List<Row> {
  /** The answer for a program. */
  readonly document: object
  readonly rows: readonly Row[]
  readonly columns: Columns<Row>
  /** Said to a person where there is nothing. */
  readonly none?: string
  /** Whether there is more than these, and how to see it; left out where the document says so itself. */
  readonly hasMore?: boolean
  readonly how?: string
}

/** A list as it was asked for: JSON, or a table with a word on what is not in it. */
export async function outList<Row>(
  screen: Screen,
  { json }: { readonly json?: boolean },
  { document, rows, columns, none, hasMore, how = higherLimit }: List<Row>,
): Promise<void> {
  if (json) return outJson(screen, { ...document, ...(hasMore !== undefined && moreWords(hasMore, how)) })
  if (none !== undefined && rows.length === 0 && screen.tty) return screen.note(none)
  await screen.out(table(columns, rows, screen))
  if (hasMore) await screen.note(how)
}

/** A project as the first argument of a command. */
export const ofProject = (command: Command): Command =>
  command.argument('<project>', 'its slug, with or without its hash, or its key', projectTyped)

export const outJson = ({ out }: Screen, document: object): Promise<void> => out(`${harmlessJson(document)}\n`)

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

/** Words failures for people at a command line, and makes ready to draw on a terminal. */
export async function tellingPeople(screen: Screen, work: () => Promise<void>): Promise<void> {
  try {
    if (screen.tty) await loadWidths()
    await work()
  } catch (error) {
    if (!(error instanceof UsageError)) throw forPeople(error)
    await screen.err(`error: ${error.message}\n${error.hint}\n`)
    throw new CommanderError(2, 'parley.usage', error.message)
  }
}

/** A project by its slug or key, or by a folder as it is typed: `.` is the one that the command runs in. */
export const projectTyped = (given: string): string => (/^\.{1,2}(?:[\\/]|$)/.test(given) ? resolve(given) : given)

/** Asks before a deletion; throws where the answer is not yes, or nobody is there to answer. */
export const confirmDeletion = (screen: Screen, what: string): Promise<void> =>
  confirm(screen, {
    would: `would delete ${what}, for good`,
    does: `deletes ${what}, for good`,
    not: 'Nothing was deleted.',
  })

/** The same before anything else that cannot be undone. */
export async function confirm(
  { input }: Screen,
  { would, does, not }: { would: string; does: string; not: string },
): Promise<void> {
  if (!input.tty) throw new UsageError(`This ${would}.`, `${not} Pass --force to do it.`)
  const answer = await input.ask(`This ${does}.\nType yes to do it: `)
  if (answer.trim().toLowerCase() !== 'yes')
    throw new HubError('INVALID_ARGUMENT', not, { hint: 'It needs a typed "yes", or --force.' })
}

/** Reads an argument that is a whole number; `#12` is the message 12. */
export const atLeast =
  (least: number) =>
  (given: string): number => {
    const value = /^#?\d{1,15}$/.test(given) ? Number(given.replace('#', '')) : Number.NaN
    if (!(value >= least)) throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`)
    return value
  }
