/** `parley config show`: every setting in force, and where it comes from. */
import type { Command } from 'commander'
import { examples, newCommand, outList, tellingPeople } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Columns } from '../terminal/tables.ts'

interface ShownSetting {
  readonly name: string
  readonly value: string
  readonly source: string
}

const columns: Columns<ShownSetting> = {
  setting: ['left', ({ name }) => name],
  value: ['shrinks', ({ value }) => value],
  from: ['shrinks', ({ source }) => source],
}

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
    .action((options: { json?: true }) =>
      tellingPeople(screen, async () => {
        const shown = settings()
        return outList(screen, options, { document: { settings: shown }, rows: shown, columns })
      }),
    )
  return command
}
