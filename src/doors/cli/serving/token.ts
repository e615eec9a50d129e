/** `parley token`: the operator's token, kept in a file that only this user may read. */
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { examples, newCommand, outJson, tellingPeople } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'

interface TokenKeeper {
  readonly file: string
  /** HTTP_BEARER_TOKEN is used instead of the file. */
  readonly inEnvironment: boolean
  read(): string | undefined
  write(): string
}

export function tokenCommand(keeper: () => TokenKeeper, screen: Screen): Command {
  const command = newCommand('token', screen)
    .description("the operator's token, which allows everything over HTTP: show, new, rotate")
    .addHelpText('after', examples('token new', 'token show', 'token rotate'))
  const verb = (name: string, says: string, run: (keeper: TokenKeeper) => string) =>
    command
      .command(name)
      .description(says)
      .option('--json', 'answer with JSON, for programs')
      .action(({ json }: { json?: true }) =>
        tellingPeople(screen, async () => {
          const kept = keeper()
          if (kept.inEnvironment)
            throw new HubError('INVALID_ARGUMENT', 'HTTP_BEARER_TOKEN is set, and is used instead of the file.', {
              hint: 'Take it out of the settings first.',
            })
          const token = run(kept)
          await (json ? outJson(screen, { token, file: kept.file }) : screen.out(`${token}\n`))
          if (name !== 'show')
            await screen.note(
              `Kept in ${kept.file}. Servers take it from their next start on; people then log in at the pages.`,
            )
        }),
      )
  verb('show', 'print the token', ({ file, read }) => {
    const token = read()
    if (token !== undefined) return token
    throw new HubError('INVALID_ARGUMENT', `There is no token in ${file}.`, { hint: 'Make one: parley token new' })
  })
  verb('new', 'make a token where there is none', ({ file, read, write }) => {
    if (read() === undefined) return write()
    throw new HubError('INVALID_ARGUMENT', `There is a token in ${file} already.`, {
      hint: 'Show it with `parley token show`, or replace it with `parley token rotate`.',
    })
  })
  verb('rotate', 'replace the token by a new one', ({ write }) => write())
  return command
}
