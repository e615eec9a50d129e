/** `parley migrate`: brings the database to the schema of this program, and lists the steps. */
import type { Command } from 'commander'
import { newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'

interface Migrated {
  /** Without its password. */
  readonly database: string
  readonly applied: readonly { readonly id: number; readonly name: string }[]
}

interface MigrateWish {
  readonly acceptLoss?: boolean
}

export function migrateCommand(bring: (wish: MigrateWish) => Promise<Migrated>, screen: Screen): Command {
  const command = newCommand('migrate', screen)
    .description('bring the database up to date; every command does so when it starts')
    .option('--accept-loss', 'start although acknowledged changes are missing from the database')
  return withJson(command, 'migrate', 'migrate --json').action(({ json, ...wish }: MigrateWish & { json?: true }) =>
    tellingPeople(screen, async () => {
      const { database, applied } = await bring(wish)
      if (json) return outJson(screen, { database, applied, up_to_date: true })
      return screen.out(`${harmlessLine(database)}: ${says(applied)}\n`)
    }),
  )
}

function says(applied: Migrated['applied']): string {
  if (applied.length === 0) return 'up to date, there was nothing to do.'
  const names = applied.map(({ id, name }) => `${id} (${name})`).join(', ')
  return `applied ${applied.length === 1 ? 'migration' : 'migrations'} ${names}; up to date now.`
}
