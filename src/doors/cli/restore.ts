/** `parley restore`: a backup becomes the store of this installation. */
import type { Command } from 'commander'
import type { Manifest } from '../../core/backups/manifest.ts'
import { contents } from './backup.ts'
import { examples, newCommand, tellingPeople } from './commands.ts'
import { harmlessJson, harmlessLine } from './harmless.ts'
import { type Progress, withProgress } from './progress.ts'
import type { Screen } from './screen.ts'

export interface RestoreWish {
  readonly file: string
  /** Whether a store that is there goes. */
  readonly force: boolean
  readonly progress: Progress
}

export interface Restored {
  /** Where the database is, as a person may read it. */
  readonly database: string
  readonly manifest: Manifest
  /** Whether the archives came along. */
  readonly archives: boolean
}

export const restoreCommand = (restore: (wish: RestoreWish) => Promise<Restored>, screen: Screen): Command =>
  newCommand('restore', screen)
    .description('make a backup the store of this installation; every part is checked before anything is changed')
    .argument('<file>', 'a file that `parley backup` wrote')
    .option('--force', 'replace the store that is there, for good')
    .option('--json', 'answer with JSON, for programs')
    .addHelpText(
      'after',
      `${examples('restore parley-monday.tar.gz', 'restore parley-monday.tar.gz --force')}
A backup of SQLite may be restored into PostgreSQL, and the other way round: DATABASE_URL says where it goes.
`,
    )
    .action((file: string, { force, json }: { force?: true; json?: true }) =>
      tellingPeople(screen, async () => {
        const { database, manifest, archives } = await withProgress(screen, 'restore', (progress) =>
          restore({ file, force: force === true, progress }),
        )
        const { counts, created_at } = manifest
        await screen.out(
          json
            ? `${harmlessJson({ database, counts, created_at, archives: archives ? manifest.archives : [] })}\n`
            : `${harmlessLine(database)}: restored as of ${harmlessLine(created_at)}, with ${contents(manifest)}.\n`,
        )
        if (!archives && manifest.archives.length > 0)
          await screen.note('The archives stayed behind: `parley serve` makes them anew when it starts.')
      }),
    )
