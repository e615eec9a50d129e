/** `parley lint` and `parley typecheck`, for developers of Parley. */
import type { Command } from 'commander'
import { examples, newCommand, tellingPeople } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'

interface Check {
  readonly name: string
  readonly says: string
  run(write: (text: string) => Promise<void>): Promise<void>
}

export const checkCommand = ({ name, says, run }: Check, screen: Screen): Command =>
  newCommand(name, screen)
    .description(`${says}, in a checkout; exit code 1 if something is found`)
    .addHelpText('after', examples(name))
    .action(() => tellingPeople(screen, () => run(screen.out)))
