/** `parley clear-and-reset-everything`: lists what it would remove, and removes it once that is confirmed. */
import type { Command } from 'commander'
import { confirmDeletion, newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, size } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'

/** The store of an installation, as far as this command needs it. */
interface Clearing {
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
  withJson(
    newCommand('clear-and-reset-everything', screen)
      .description('delete the database, the archives and the signing key, for good; lists them first, and asks')
      .option('--force', 'do it without asking'),
    'clear-and-reset-everything',
    'clear-and-reset-everything --force',
  ).action(({ force, json }: { force?: true; json?: true }) =>
    tellingPeople(screen, async () => {
      const { survey, needUnused, remove } = clearing()
      const found = await survey()
      await needUnused()
      if (!force || !json) await screen.err(listed(found))
      if (!force) await confirmDeletion(screen, 'all of that')
      await remove()
      const { database, files, rows, archives, strangers } = found
      if (json) return outJson(screen, { database, files, rows, archives, removed: true })
      await screen.out('All of it is gone. `parley serve` makes a new store.\n')
      if (strangers.length > 0)
        await screen.note(`Not Parley's, and still there: ${strangers.map(harmlessLine).join(', ')}`)
    }),
  )

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
