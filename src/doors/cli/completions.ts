/** `parley completions`: what a shell offers when Tab is pressed, made from the commands themselves. */
import { Argument, type Command } from 'commander'
import { examples, newCommand } from './commands.ts'
import type { Screen } from './terminal/screen.ts'

/** A command as a shell and the manual page see it. */
export interface CommandShape {
  /** The words after `parley`; none for the program itself. */
  readonly path: readonly string[]
  readonly says: string
  readonly usage: string
  readonly options: readonly { readonly flags: string; readonly long: string; readonly says: string }[]
  readonly subcommands: readonly CommandShape[]
}

export function shapeOf(command: Command, path: readonly string[] = []): CommandShape {
  const help = command.createHelp()
  return {
    path,
    says: help.commandDescription(command),
    usage: [...path, command.usage().trim()].filter((word) => word !== '').join(' '),
    options: help.visibleOptions(command).map((option) => ({
      flags: option.flags,
      long: option.long ?? option.flags,
      says: help.optionDescription(option),
    })),
    subcommands: help
      .visibleCommands(command)
      .filter((sub) => sub.name() !== 'help')
      .map((sub) => shapeOf(sub, [...path, sub.name()])),
  }
}

const all = (shape: CommandShape): CommandShape[] => [shape, ...shape.subcommands.flatMap(all)]
const lastOf = ({ path }: CommandShape): string => path.at(-1) ?? ''
const wordsOf = ({ subcommands, options }: CommandShape): string[] => [
  ...subcommands.map(lastOf),
  ...options.map(({ long }) => long),
]
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Follows the words typed so far down the tree of commands. */
const pathCases = (program: CommandShape): string =>
  all(program)
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => quoted(` ${path.join(' ')}`))
    .map((path) => `      ${path}) at=${path} ;;`)
    .join('\n')

const shells: Record<string, (program: CommandShape) => string> = {
  bash: (program) => `_parley() {
  local at= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
${pathCases(program)}
    esac
  done
  case "$at" in
${all(program)
  .map(
    (shape) =>
      `    ${quoted(shape.path.map((word) => ` ${word}`).join(''))}) word=${quoted(wordsOf(shape).join(' '))} ;;`,
  )
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$word" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _parley parley parley-hub
`,
  zsh: (program) => `#compdef parley parley-hub
_parley() {
  local at= word
  local -a words_here
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    case "$at $word" in
${pathCases(program)}
    esac
  done
  case "$at" in
${all(program)
  .map((shape) => {
    const items = [
      ...shape.subcommands.map((sub) => [lastOf(sub), sub.says]),
      ...shape.options.map(({ long, says }) => [long, says]),
    ].map(([word = '', says = '']) => quoted(`${word}:${says.replaceAll(':', '\\:')}`))
    return `    ${quoted(shape.path.map((word) => ` ${word}`).join(''))}) words_here=(${items.join(' ')}) ;;`
  })
  .join('\n')}
  esac
  _describe parley words_here || _files
}
# Loaded by its name it is the function itself; read by hand it says what it completes.
if [ "\${funcstack[1]}" = _parley ]; then _parley "$@"; else compdef _parley parley parley-hub; fi
`,
  fish: (program) =>
    all(program)
      .flatMap(({ path, subcommands, options }) => {
        const when =
          path.length === 0
            ? '__fish_use_subcommand'
            : `test (string join " " -- (commandline -opc)[2..] | string match -r -- ${quoted(`^${path.join(' ')}( |$)`)} | count) -gt 0`
        const condition = `complete -c parley -n ${quoted(when)}`
        return [
          ...subcommands.map((sub) => `${condition} -f -a ${quoted(lastOf(sub))} -d ${quoted(sub.says)}`),
          ...options.map(({ long, says }) => `${condition} -l ${quoted(long.replace(/^-+/, ''))} -d ${quoted(says)}`),
        ]
      })
      .join('\n')
      .concat('\ncomplete -c parley-hub -w parley\n'),
}

/** How each shell takes the script. */
const help = `
To have them in every shell:
  bash   parley completions bash > ~/.local/share/bash-completion/completions/parley
  zsh    parley completions zsh > "\${fpath[1]}/_parley"
  fish   parley completions fish > ~/.config/fish/completions/parley.fish`

export const completionsCommand = (program: () => Promise<CommandShape>, screen: Screen): Command =>
  newCommand('completions', screen)
    .description('print the completions of a shell: bash, zsh, fish')
    .addArgument(new Argument('<shell>').choices(Object.keys(shells)))
    .addHelpText('after', `${help}\n${examples('completions bash')}`)
    .action(async (shell: string) => screen.out(shells[shell]?.(await program()) ?? ''))
