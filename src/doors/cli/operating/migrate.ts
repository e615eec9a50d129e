/** `parley migrate`: brings the database to the schema of this program, and lists the steps; --plan only shows them. */
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'

interface Migrated {
  /** Without its password. */
  readonly database: string
  readonly applied: readonly { readonly id: number; readonly name: string; readonly ms: number }[]
}

interface Step {
  readonly id: number
  readonly name: string
  /** The migration that a node must know to run beside this one; null where no older node can. */
  readonly beside_from: number | null
  readonly sql: readonly string[]
  /** Whether the program does a part that SQL cannot. */
  readonly program: boolean
  /** How long it held its locks on the copy. */
  readonly ms: number | null
}

interface MigrateWish {
  readonly acceptLoss?: boolean
}

interface Migrating {
  bring(wish: MigrateWish): Promise<Migrated>
  plan(copy?: string): Promise<{ readonly database: string; readonly steps: readonly Step[] }>
}

export function migrateCommand({ bring, plan }: Migrating, screen: Screen): Command {
  const command = newCommand('migrate', screen)
    .description('bring the database up to date; every command does so when it starts')
    .option('--accept-loss', 'start although acknowledged changes are missing from the database')
    .option('--plan', 'only show the SQL of each missing step, and whether older nodes can run beside it')
    .option(
      '--on <url>',
      'with --plan: a copy of the database, which is brought up to date to see how long each step takes',
    )
  return withJson(command, 'migrate', 'migrate --json').action(
    ({ json, plan: only, on, ...wish }: MigrateWish & { json?: true; plan?: true; on?: string }) =>
      tellingPeople(screen, async () => {
        if (on !== undefined && !only)
          throw new HubError('INVALID_ARGUMENT', '--on goes with --plan.', {
            hint: 'Add --plan; without it the database itself is brought up to date.',
          })
        if (only) {
          const { database, steps } = await plan(on)
          if (json) return outJson(screen, { database, steps, up_to_date: steps.length === 0 })
          return screen.out(`${harmlessLine(database)}: ${planned(steps)}\n`)
        }
        const { database, applied } = await bring(wish)
        if (json) return outJson(screen, { database, applied, up_to_date: true })
        return screen.out(`${harmlessLine(database)}: ${says(applied)}\n`)
      }),
  )
}

function planned(steps: readonly Step[]): string {
  if (steps.length === 0) return 'up to date, nothing would be done.'
  return [`${steps.length} to apply, each in a transaction of its own. Nothing was changed.`, ...steps.map(shown)].join(
    '\n\n',
  )
}

function shown({ id, name, beside_from, sql, program, ms }: Step): string {
  const nodes =
    beside_from === null
      ? 'no older node can run beside it: stop them first'
      : `nodes that know migration ${beside_from} run beside it`
  const statements = sql.map((statement) => `${statement};`)
  return [
    `-- ${id} (${name}): ${nodes}${ms === null ? '' : `; ${ms} ms on the copy`}`,
    ...statements,
    ...(program ? ['-- and a part that the program does'] : []),
  ].join('\n')
}

function says(applied: Migrated['applied']): string {
  if (applied.length === 0) return 'up to date, there was nothing to do.'
  const names = applied.map(({ id, name }) => `${id} (${name})`).join(', ')
  return `applied ${applied.length === 1 ? 'migration' : 'migrations'} ${names}; up to date now.`
}
