/** `parley migrate`: brings the database to the schema of this program, and lists the steps. */
import type { Command } from 'commander'
import { examples, newCommand, tellingPeople } from './commands.ts'
import { harmlessJson, harmlessLine } from './harmless.ts'
import type { Screen } from './screen.ts'

export interface Migrated {
  /** Where the database is, as a person may read it. */
  readonly database: string
  readonly applied: readonly { readonly id: number; readonly name: string }[]
}

export interface MigrateWish {
  /** Whether to go on where acknowledged changes are missing. */
  readonly acceptLoss?: boolean
}

export function migrateCommand(bring: (wish: MigrateWish) => Promise<Migrated>, screen: Screen): Command {
  return newCommand('migrate', screen)
    .description('bring the database up to date; every command does so when it starts')
    .option('--accept-loss', 'go on where acknowledged changes are missing from the database, without them')
    .option('--json', 'answer with JSON, for programs')
    .addHelpText('after', examples('migrate', 'migrate --json'))
    .action(({ json, ...wish }: MigrateWish & { json?: true }) =>
      tellingPeople(screen, async () => {
        const migrated = await bring(wish)
        const { database, applied } = migrated
        if (json) return screen.out(`${harmlessJson({ database, applied, up_to_date: true })}\n`)
        return screen.out(`${harmlessLine(database)}: ${says(applied)}\n`)
      }),
    )
}

function says(applied: Migrated['applied']): string {
  if (applied.length === 0) return 'up to date, there was nothing to do.'
  const names = applied.map(({ id, name }) => `${id} (${name})`).join(', ')
  return `applied ${applied.length === 1 ? 'migration' : 'migrations'} ${names}; up to date now.`
}
