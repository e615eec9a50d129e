/** `parley config show`: every setting in force, and where it comes from. */
import type { Command } from 'commander'
import { examples, newCommand, outJson, tellingPeople } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'
import { table } from '../terminal/tables.ts'

interface ShownSetting {
  readonly name: string
  readonly value: string
  readonly source: string
}

const columns = { setting: 'left', value: 'shrinks', from: 'shrinks' } as const

export function configCommand(settings: () => readonly ShownSetting[], screen: Screen): Command {
  const command = newCommand('config', screen)
    .description(
      'show every setting and where it comes from: the command line, the environment, a file, or its default',
    )
    .addHelpText('after', examples('config show', 'config show --json'))
  command
    .command('show')
    .description('print the settings in force; secrets are hidden')
    .option('--json', 'answer with JSON, for programs')
    .action(({ json }: { json?: true }) =>
      tellingPeople(screen, async () => {
        const shown = settings()
        if (json) return outJson(screen, { settings: shown })
        await screen.out(
          table(
            columns,
            shown.map(({ name, value, source }) => [name, value, source]),
            screen,
          ),
        )
      }),
    )
  return command
}
