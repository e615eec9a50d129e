/** `parley db`: checks the database, gives its unused room back, tells how large it is. */
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { examples, newCommand, outJson, tellingPeople } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import { count, size } from '../terminal/phrases.ts'
import { type Progress, withProgress } from '../terminal/progress.ts'
import type { Screen } from '../terminal/screen.ts'

interface Stats {
  readonly engine: string
  readonly bytes: number
  readonly freeBytes: number
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly bytes: number | undefined }[]
}

interface Care {
  check(progress: Progress): Promise<string[]>
  vacuum(progress: Progress): Promise<void>
  stats(): Promise<Stats>
}

export type WithCare = <T>(work: (care: Care, name: string) => Promise<T>) => Promise<T>

interface Options {
  readonly json?: true
}

export function dbCommand(withCare: WithCare, screen: Screen): Command {
  const command = newCommand('db', screen)
    .description('look after the database')
    .addHelpText('after', examples('db check', 'db vacuum', 'db stats --json'))
  command
    .command('check')
    .description('read all of the database and look for damage; exit code 1 if there is some')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json }: Options) =>
      tellingPeople(screen, () =>
        withCare(async (care, database) => {
          const faults = await withProgress(screen, 'check', (progress) => care.check(progress))
          if (json) await outJson(screen, { database, sound: faults.length === 0, faults })
          else if (faults.length === 0) await screen.out(`${harmlessLine(database)}: sound.\n`)
          else await screen.out(faults.map((fault) => `${harmlessLine(fault)}\n`).join(''))
          if (faults.length === 0) return
          throw new HubError('STORAGE_FAILED', `The database has ${count(faults.length, 'fault')}.`, {
            hint: 'Stop the server, keep the files aside, and bring a backup back: parley restore <file>.',
          })
        }),
      ),
    )
  command
    .command('vacuum')
    .description('give unused room back; SQLite needs the server stopped, PostgreSQL goes on beside it')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json }: Options) =>
      tellingPeople(screen, () =>
        withCare(async (care, database) => {
          const { bytes: before } = await care.stats()
          await withProgress(screen, 'vacuum', (progress) => care.vacuum(progress))
          const { bytes: after } = await care.stats()
          if (json) return outJson(screen, { database, bytes_before: before, bytes_after: after })
          await screen.out(`${harmlessLine(database)}: ${size(before)} before, ${size(after)} now.\n`)
        }),
      ),
    )
  command
    .command('stats')
    .description('how large the database and each of its tables are')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json }: Options) =>
      tellingPeople(screen, () =>
        withCare(async (care, database) => {
          const { engine, bytes, freeBytes, tables } = await care.stats()
          if (json)
            return outJson(screen, {
              database,
              engine,
              bytes,
              free_bytes: freeBytes,
              tables: tables.map((table) => ({ ...table, bytes: table.bytes ?? null })),
            })
          const head = `${harmlessLine(database)} (${engine}): ${size(bytes)}, ${size(freeBytes)} of it unused\n`
          await screen.out(head + tables.map(line).join(''))
        }),
      ),
    )
  return command
}

const line = ({ name, rows, bytes }: Stats['tables'][number]): string =>
  `  ${name}: ${count(rows, 'row')}${bytes === undefined ? '' : `, ${size(bytes)}`}\n`
