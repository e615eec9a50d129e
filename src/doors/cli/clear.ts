/** `parley clear-and-reset-everything`: says what it would remove, and removes it once it was told to. */
import type { Command } from 'commander'
import { HubError } from '../../base/errors.ts'
import { examples, newCommand, tellingPeople } from './commands.ts'
import { UsageError } from './failures.ts'
import { harmlessJson, harmlessLine } from './harmless.ts'
import { count } from './reading.ts'
import type { Screen } from './screen.ts'
import { size } from './sizes.ts'

/** The store of an installation, as far as this command needs it. */
export interface Clearing {
  survey(): Promise<Surveyed>
  /** Throws while another process has the store open. */
  needUnused(): Promise<void>
  remove(): Promise<void>
}

interface Surveyed {
  readonly database: string
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly rows: Readonly<Record<string, number>>
  readonly archives: readonly string[]
  readonly strangers: readonly string[]
}

export const clearCommand = (clearing: () => Clearing, screen: Screen): Command =>
  newCommand('clear-and-reset-everything', screen)
    .description('delete the database, the archives and the signing key, for good; says first what and how much')
    .option('--force', 'do it without asking')
    .option('--json', 'answer with JSON, for programs')
    .addHelpText('after', examples('clear-and-reset-everything', 'clear-and-reset-everything --force'))
    .action(({ force, json }: { force?: true; json?: true }) =>
      tellingPeople(screen, async () => {
        const { survey, needUnused, remove } = clearing()
        const found = await survey()
        await needUnused()
        if (!force) await ask(screen, found)
        else if (!json) await screen.err(listed(found))
        await remove()
        const { database, files, rows, archives } = found
        if (json) return screen.out(`${harmlessJson({ database, files, rows, archives, removed: true })}\n`)
        await screen.out('All of it is gone. `parley serve` makes a new store.\n')
        if (found.strangers.length > 0) await screen.note(`Not Parley's, and still there: ${names(found.strangers)}`)
      }),
    )

async function ask(screen: Screen, found: Surveyed): Promise<void> {
  await screen.err(listed(found))
  if (!screen.input.tty)
    throw new UsageError('This would delete all of that, for good.', 'Nothing was deleted. Pass --force to do it.')
  const answer = await screen.input.ask('This deletes all of that, for good.\nType yes to do it: ')
  if (answer.trim().toLowerCase() !== 'yes')
    throw new HubError('INVALID_ARGUMENT', 'Nothing was deleted.', { hint: 'It needs a typed "yes", or --force.' })
}

function listed({ database, files, rows, archives }: Surveyed): string {
  const nouns = { projects: 'project', agents: 'agent', threads: 'thread', messages: 'message', leases: 'reservation' }
  const counts = Object.entries(nouns).flatMap(([table, noun]) =>
    rows[table] === undefined ? [] : [count(rows[table], noun)],
  )
  return [
    `${harmlessLine(database)}: ${counts.length === 0 ? 'no tables' : counts.join(', ')}`,
    ...files.map(({ path, bytes }) => `${harmlessLine(path)}: ${size(bytes)}`),
    ...(archives.length === 0 ? [] : [`with the archives of ${count(archives.length, 'project')}`]),
  ]
    .map((line) => `  ${line}\n`)
    .join('')
}

const names = (paths: readonly string[]): string => paths.map(harmlessLine).join(', ')
