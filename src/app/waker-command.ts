/** `parley wait`, `hook` and `attach` in the help, the manual page and the completions of shells. */
import { type Command, CommanderError } from 'commander'
import { examples, newCommand } from '../doors/cli/commands.ts'
import type { CommandParts } from './command-parts.ts'
import { type WakerCommand, type WakerName, wakerCommands } from './waker-options.ts'

/** The launcher starts them without coming by here, unless somebody asks for help. */
export function wakerCommand(name: WakerName, { screen }: CommandParts): Command {
  const { says, words, options, more, examples: shown }: WakerCommand = wakerCommands[name]
  const command = newCommand(name, screen).description(says)
  for (const word of words) command.argument(`<${word}>`)
  for (const [option, { value, says }] of Object.entries(options))
    command.option(value === undefined ? `--${option}` : `--${option} ${value}`, says)
  return command.addHelpText('after', `${more}${examples(...shown)}`).action(async () => {
    const { waker } = await import('./waker.ts')
    const code = await waker(process.argv.slice(2), process)
    throw new CommanderError(code, `parley.${name}`, '')
  })
}
