/** `parley restore`: a backup becomes the store of this installation. */
import type { Command } from 'commander'
import type { Manifest } from '../../../core/backups/manifest.ts'
import { examples, newCommand, outJson, tellingPeople } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { type Progress, withProgress } from '../terminal/progress.ts'
import type { Screen } from '../terminal/screen.ts'
import { contents } from './backup.ts'

export interface RestoreWish {
  readonly file: string
  /** Whether an existing store is replaced. */
  readonly force: boolean
  readonly progress: Progress
}

export interface Restored {
  /** Without its password. */
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
        if (json) await outJson(screen, { database, counts, created_at, archives: archives ? manifest.archives : [] })
        else
          await screen.out(
            `${harmlessLine(database)}: restored as of ${harmlessLine(created_at)}, with ${contents(manifest)}.\n`,
          )
        if (!archives && manifest.archives.length > 0)
          await screen.note('The archives stayed behind: `parley serve` rebuilds them when it starts.')
      }),
    )
