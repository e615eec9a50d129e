/** `parley guard`: installs and removes the guard of a repository, shows its state, and checks staged files. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { local } from '../../../core/access/callers.ts'
import { describeGuard, type Installation, installGuard } from '../../../core/leases/guard-hooks.ts'
import { examples, newCommand, type Open, outJson, projectTyped, tellingPeople, withHub } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'

/** The facts that a guard carries about its repository. */
type Carried = Awaited<ReturnType<typeof describeGuard>>

export interface GuardState {
  readonly hook: string
  readonly installed: boolean
  readonly project: string | undefined
  /** The store that it looks into. */
  readonly store: string | undefined
  /** Whether the hook also does something else. */
  readonly chained: boolean
  /** Reasons why it does not work. */
  readonly faults: readonly string[]
}

/** Needs no store: a guard can be inspected and removed when the store is gone. */
export interface GuardSteering {
  installation(): Installation
  uninstall(folder: string): Promise<boolean>
  state(folder: string): Promise<GuardState>
  /** Undefined if no guard is installed. */
  carried(folder: string): Promise<Carried | undefined>
  /** Reports staged files that others hold, and answers whether the commit may be made. */
  check(carried: Carried, folder: string): Promise<boolean>
}

export function guardCommand(open: Open, steering: GuardSteering, screen: Screen): Command {
  const command = newCommand('guard', screen)
    .description('stop commits of files that other agents have reserved: install, uninstall, status, check')
    .addHelpText(
      'after',
      `\nAgents commit with AGENT_NAME set to their name. PARLEY_GUARD=warn shows conflicts and commits, PARLEY_GUARD=off skips the guard.\n${examples('guard install', 'guard install /srv/code/backend /srv/code/backend', 'guard status /srv/code/backend')}`,
    )

  command
    .command('install')
    .description('install the pre-commit guard into a repository; an existing hook stays and runs after it')
    .argument(
      '[project_key]',
      'the project whose reservations count: its slug or its key (default: that of the repository)',
    )
    .argument('[code_repo_path]', 'a checkout of the repository (default, without a project: the current one)')
    .action((project: string | undefined, path: string | undefined) =>
      withHub(open, screen, async (hub) => {
        if (project !== undefined && path === undefined)
          throw new UsageError(
            "missing required argument 'code_repo_path'",
            'Name both, or none: then it is the current repository.',
          )
        const guarding = { project, folder: resolve(path ?? '.'), installation: steering.installation() }
        const { hook, project: guarded, note } = await installGuard(hub, local, guarding)
        await screen.out(`${harmlessLine(hook)}\n`)
        if (note !== undefined) await screen.note(harmlessLine(note))
        await screen.note(
          `Installed for the project ${harmlessLine(guarded)}. Agents commit with AGENT_NAME set to their name.`,
        )
      }),
    )

  command
    .command('uninstall')
    .description('remove the guard from a repository; the hook that was there before stays')
    .argument('[code_repo_path]', 'a checkout of the repository', '.')
    .action((path: string) =>
      tellingPeople(screen, async () => {
        const removed = await steering.uninstall(resolve(path))
        await screen.out(removed ? 'The guard was removed.\n' : 'There was no guard.\n')
      }),
    )

  command
    .command('status')
    .description('show whether a repository has a guard; exit code 1 if it has none that works')
    .argument('[code_repo_path]', 'a checkout of the repository', '.')
    .option('--json', 'answer with JSON, for programs')
    .action((path: string, { json }: { json?: true }) =>
      tellingPeople(screen, async () => {
        const state = await steering.state(resolve(path))
        if (json) await outJson(screen, { ...state, project: state.project ?? null, store: state.store ?? null })
        else await screen.out(told(state))
        if (state.installed && state.faults.length === 0) return
        throw new HubError('NOT_FOUND', 'No guard checks the commits of this repository.', {
          hint: '`parley guard install` in the repository installs it, or brings it up to date.',
        })
      }),
    )

  command
    .command('check')
    .description('check staged files, as the guard does; exit code 1 if others have reserved some of them')
    .argument('[code_repo_path]', 'a checkout of the repository', '.')
    .option(
      '--project <slug or key>',
      'the project whose reservations count, where no guard is installed',
      projectTyped,
    )
    .action((path: string, { project }: { project?: string }) =>
      tellingPeople(screen, async () => {
        const folder = resolve(path)
        const carried = project === undefined ? await steering.carried(folder) : await describe(folder, project)
        if (carried === undefined)
          throw new HubError('NOT_FOUND', 'This repository has no guard that knows its project.', {
            hint: 'Name the project with --project, or install the guard with `parley guard install`.',
          })
        if (await steering.check(carried, folder)) return
        throw new HubError('FORBIDDEN', 'This commit would be stopped.')
      }),
    )

  async function describe(folder: string, project: string): Promise<Carried> {
    const hub = await open()
    try {
      return await describeGuard(hub, local, { project, folder, installation: steering.installation() })
    } finally {
      await hub.close()
    }
  }

  return command
}

function told({ hook, installed, project, store, chained, faults }: GuardState): string {
  const lines = installed
    ? [
        `${hook}: guards the reservations of ${project ?? 'no project'}${chained ? ', then goes on with the hook that was there' : ''}.`,
      ]
    : [`${hook}: ${chained ? 'a hook without a guard' : 'there is no hook'}.`]
  return [...lines, ...(store === undefined ? [] : [`It looks into ${store}.`]), ...faults]
    .map((line) => `${harmlessLine(line)}\n`)
    .join('')
}
