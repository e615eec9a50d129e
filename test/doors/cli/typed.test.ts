/** Commands that are typed wrongly, or in another way than the help shows, and the answers to them. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { plainMail } from '../../support/mail.ts'
import { shareParley, temporaryFolder, temporaryRepository } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareParley()

const refused = async (args: string[], says: RegExp, code = 1, given: Parameters<typeof parleyCommand>[2] = {}) =>
  expect(await parleyCommand(parley(), args, given), args.join(' ')).toMatchObject({
    code,
    stderr: expect.stringMatching(says),
  })

verifies('cli.help.unknown', 'Help for a command that is not there names the nearest, and is no help', async () => {
  const way = /^error: unknown command 'topcis'\. Did you mean topics\? `parley --help` lists the commands\.\n$/
  await refused(['help', 'topcis'], way)
  await refused(['topcis', '--help'], way)
  await refused(['topcis', 'list', '-h'], way)
  await refused(['help', 'frob'], /^error: unknown command 'frob'\. `parley --help`/)
  await refused(['topics', 'lst', '--help'], /unknown command 'lst'\. Did you mean list\? `parley topics --help` lists/)
  await refused(['help', 'topics', 'lst'], /unknown command 'lst'/)
  for (const args of [['help', 'topics'], ['help'], ['--help'], ['serve-http', '--help'], ['send', 'Bob', '--help']])
    expect(await printedBy(parley(), args)).toMatch(/^Usage: parley/)
})

verifies('cli.flags.both', '--yes and --force both go on without asking, and the help shows one of them', async () => {
  const typed = async (...args: string[]) => JSON.parse(await printedBy(parley(), [...args, '--json']))
  for (const flag of ['--yes', '--force']) {
    await typed('topics', 'create', 'short-lived')
    expect(await typed('topics', 'delete', 'short-lived', flag)).toMatchObject({ deleted: true })
  }
  const home = await temporaryFolder()
  for (const flag of ['--yes', '--force'])
    expect(
      await parleyCommand({ storage: home }, ['init', 'codex', '--user', flag], { cwd: home, env: { PATH: '' } }),
    ).toMatchObject({ code: 0 })
  for (const [command, shown, hidden] of [
    [['topics', 'delete'], '--force', '--yes'],
    [['init'], '--yes', '--force'],
  ] as const) {
    const help = await printedBy(parley(), [...command, '--help'])
    expect(help).toContain(shown)
    expect(help).not.toContain(hidden)
  }
})

verifies('cli.project.typed', 'A folder is typed as it stands to the command: . is the project here', async () => {
  const folder = await temporaryRepository()
  await mkdir(join(folder, 'src'))
  await plainMail(parley()).call('register_agent', { project_key: folder, name: 'RedStone' })
  for (const [place, cwd] of [
    ['.', folder],
    ['..', join(folder, 'src')],
    ['./', folder],
  ] as const)
    for (const command of [['agents'], ['inbox'], ['threads'], ['topics', 'list'], ['search', 'x']])
      expect(
        await parleyCommand(parley(), [...command, '--project', place], { cwd }),
        `${command.join(' ')} --project ${place}`,
      ).toMatchObject({ code: 0 })
  await refused(['watch', '--project', '.'], /^There is no project "\/.*src"\.\nIt lies in the project /, 1, {
    cwd: join(folder, 'src'),
  })
})

verifies('cli.project.missing', 'A project that is not there is told with the ways there are', async () => {
  for (const args of [
    ['watch', '--project', 'nope'],
    ['projects', 'merge', 'nope', 'commons', '--dry-run'],
  ])
    await refused(args, /^There is no project "nope"\.\n[^\n]* `parley list-projects` lists all projects\.\n$/)
})

verifies(
  'cli.topics.server',
  'topics works in no store here while PARLEY_SERVER names a server elsewhere',
  async () => {
    const env = { PARLEY_SERVER: 'https://elsewhere.invalid' }
    await printedBy(parley(), ['topics', 'create', 'kept'])
    for (const args of [['list'], ['show', 'kept'], ['send', 'kept', 'x'], ['delete', 'kept', '--force']])
      await refused(['topics', ...args], /^PARLEY_SERVER is https:\/\/elsewhere\.invalid, and .*\nRun it on/, 1, {
        env,
      })
    // The server of this very store is no other place.
    // Commands that an operator runs beside the store go on, and say where.
    for (const command of ['keys list', 'invitations list', 'list-projects', 'file_reservations list commons'])
      expect([command, await parleyCommand(parley(), command.split(' '), { env })]).toMatchObject([
        command,
        {
          stderr: expect.stringMatching(
            /^warning: PARLEY_SERVER is https:\/\/elsewhere\.invalid, and .* store here, SQLite /,
          ),
        },
      ])
    const own = { PARLEY_SERVER: parley().url }
    expect(await printedBy(parley(), ['topics', 'list'], { env: own })).toContain('kept')
  },
)

verifies('cli.guard.outside', 'guard install outside of a repository says what to do', async () => {
  const cwd = await temporaryFolder()
  for (const command of ['install', 'status', 'uninstall'])
    await refused(
      ['guard', command],
      /is not a working folder of a Git repository: .*\nRun it in a repository, or/,
      1,
      {
        cwd,
      },
    )
})
