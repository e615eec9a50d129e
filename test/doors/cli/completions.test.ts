/** Completions and the help of the whole command line. */
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { renderManual } from '../../../scripts/docs/manual.ts'
import { createProgram, runProgram } from '../../../src/app/program.ts'
import { type CommandShape, shapeOf } from '../../../src/doors/cli/completions.ts'
import { parleyCommand } from '../../support/cli.ts'
import { bareEnv, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const storage = '/nowhere'
const printed = async (...args: string[]) => (await parleyCommand({ storage }, args)).stdout

const around = () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  return { env: bareEnv(storage), stdin, stdout, stderr }
}
const program = shapeOf(await createProgram([], around(), true))
const every = (shape: CommandShape): CommandShape[] => [shape, ...shape.subcommands.flatMap(every)]

verifies('cli.completions.all', 'bash offers the commands, and below each its own', async () => {
  const file = join(await temporaryFolder(), 'parley.bash')
  await writeFile(file, await printed('completions', 'bash'))
  const offered = (...words: string[]) =>
    execFileSync(
      'bash',
      [
        '-c',
        `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _parley; echo "\${COMPREPLY[@]}"`,
        file,
        'parley',
        ...words,
      ],
      { encoding: 'utf8' },
    )
      .trim()
      .split(' ')
  expect(offered('')).toEqual(expect.arrayContaining(program.subcommands.map(({ path: [name] }) => name)))
  expect(offered('')).not.toContain('lint')
  expect(offered('topics', 'w')).toEqual(['watch'])
  expect(offered('serve', '--p')).toEqual(['--port'])
  expect(offered('keys', 'create', '--pro')).toEqual(['--project'])
})

/** A shell that is not on this machine leaves its test out, and says so. */
const withShell = (shell: string) => {
  const there = spawnSync(shell, ['--version']).status === 0
  if (!there) process.stderr.write(`skipped: ${shell} is not on this machine\n`)
  return { skip: !there }
}

test(
  'zsh loads the completions by their name, or read by hand, and they offer the same',
  withShell('zsh'),
  async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, '_parley'), await printed('completions', 'zsh'))
    // The shell asks the function with its words; a program is still found while it answers.
    const script = `fpath=($1 $fpath); autoload -Uz compinit; compinit -u -D
    [ -z "$2" ] || source $1/_parley
    _describe() { whence -p env > /dev/null && print -r -- "\${(@P)2%%:*}" }
    print -r -- "$_comps[parley] $_comps[parley-hub]"
    for line in 'parley ' 'parley topics ' 'parley topics watch '; do words=("\${(@s: :)line}"); CURRENT=$#words; _parley; done`
    const names = program.subcommands.map(({ path: [name] }) => name)
    for (const byHand of ['', 'yes']) {
      const env = { ...process.env, HOME: folder }
      const said = execFileSync('zsh', ['-f', '-c', script, 'zsh', folder, byHand], { encoding: 'utf8', env })
      const [bound, first, second = '', third = ''] = said.trim().split('\n')
      expect(bound).toBe('_parley _parley')
      expect(first?.split(' ')).toEqual(expect.arrayContaining(names))
      expect(second.split(' ')).toContain('watch')
      expect(third.split(' ')).toContain('--project')
    }
  },
)

test('fish offers the commands, and below each its own', withShell('fish'), async () => {
  const file = join(await temporaryFolder(), 'parley.fish')
  await writeFile(file, await printed('completions', 'fish'))
  const offered = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', `source ${file}; complete -C "${line}"`], {
      encoding: 'utf8',
      env: { ...process.env, HOME: join(file, '..') },
    })
      .trim()
      .split('\n')
      .map((one) => one.split('\t')[0])
  const names = program.subcommands.map(({ path: [name] }) => name)
  expect(offered('parley ')).toEqual(expect.arrayContaining(names))
  expect(offered('parley-hub topics w')).toEqual(['watch'])
  expect(offered('parley serve --p')).toEqual(['--port'])
})

verifies('cli.completions.all', 'zsh, fish and the manual page name every command and option', async () => {
  for (const page of [
    await printed('completions', 'zsh'),
    await printed('completions', 'fish'),
    renderManual(program),
  ]) {
    const words = page.replaceAll('\\-', '-')
    for (const { path, options } of every(program)) {
      expect(words).toContain(path.at(-1) ?? 'parley')
      for (const { long } of options) expect(words).toContain(long.replace(/^--/, ''))
    }
  }
})

test('the manual page can be read', () => {
  // A line that begins with a dot is a command of troff, and there are few of them here.
  const commands = renderManual(program).match(/^\.\w*/gm)
  expect(new Set(commands)).toEqual(new Set(['.', '.TH', '.SH', '.SS', '.TP', '.B', '.I']))
})

verifies('cli.help.short', 'an unknown command names the nearest one', async () => {
  const { code, stderr } = await parleyCommand({ storage }, ['srve'])
  expect(code).toBe(2)
  expect(stderr).toBe("error: unknown command 'srve'. Did you mean serve? `parley --help` lists the commands.\n")
  expect((await parleyCommand({ storage }, ['topics', 'wtch'])).stderr).toMatch(/^.*'wtch'\. Did you mean watch\?.*\n$/)
})

verifies('cli.help.short', 'a program for clients says so at a terminal', async () => {
  const { stdin, stdout, stderr, env } = around()
  Object.assign(stdin, { isTTY: true })
  stdin.end()
  const said = text(stderr)
  // Without an agent it ends at once.
  await runProgram(['hub'], { env, stdin, stdout, stderr })
  stderr.end()
  expect(await said).toContain('parley hub speaks MCP on stdin')
})
