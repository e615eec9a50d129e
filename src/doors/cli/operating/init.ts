/** `parley init`: shows what it would write into the settings of MCP clients, asks, writes it, and says what is left to do. */
import { Argument, type Command, CommanderError } from 'commander'
import type { CarriedOut } from '../../../client-settings/carry-out.ts'
import { clientNames, clientOf } from '../../../client-settings/clients.ts'
import { unifiedDiff } from '../../../client-settings/diff.ts'
import type { PlannedFile } from '../../../client-settings/plan.ts'
import { newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { harmlessLine, harmlessText } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'

export interface InitOptions {
  readonly agent?: string
  readonly project?: string
  readonly server?: string
  readonly door?: string
  readonly user?: boolean
  readonly here?: boolean
  readonly allow?: boolean
  /** False: no hooks. */
  readonly hooks?: boolean
  /** Gemini's turn is held open until there is mail. */
  readonly hold?: boolean
  readonly uninstall?: boolean
}

export interface InitPlan {
  readonly scope: 'user' | 'here'
  /** The folder that settings of `here` are for. */
  readonly folder: string
  /** Absent where settings are taken out. */
  readonly server?: string
  readonly clients: readonly string[]
  /** Clients that have no settings of one folder. */
  readonly userOnly: readonly string[]
  readonly files: readonly PlannedFile[]
  /** Steps that are left to a person, by client; '' for all. */
  readonly todo: readonly { readonly client: string; readonly says: string }[]
  /** Folders, or `user`, where init has set something up as well. */
  readonly elsewhere: readonly string[]
}

export interface Initialising {
  /** Without names: the clients that are found. */
  plan(clients: readonly string[], options: InitOptions): Promise<InitPlan>
  carryOut(plan: InitPlan): CarriedOut[]
}

interface Flags extends InitOptions {
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

export const initCommand = (initialising: Initialising, screen: Screen): Command =>
  withJson(
    newCommand('init', screen)
      .description('set up the MCP clients on this machine: their settings, and a few lines for agents in AGENTS.md')
      .addArgument(new Argument('[client...]', 'the clients (default: all that are found)').choices(clientNames))
      .option('--agent <name>', 'the name of the agent (default: the variable AGENT_NAME, where the client can)')
      .option('--project <path>', 'the project (default: the folder that the client works in)')
      .option('--server <url>', 'the server (default: the one of this machine)')
      .option('--door <door>', 'mail, mailbox, hub or bus (default: mail, or that of the stored key)')
      .option('--here', 'for this repository alone; no file that git shares, but AGENTS.md (default in a repository)')
      .option('--user', 'for all folders of this user (default elsewhere)')
      .option('--allow', "let the client call Parley's tools without asking")
      .option('--no-hooks', 'without the hooks that tell an agent of mail and wake it')
      .option(
        '--hold',
        'Gemini CLI outside of tmux: hold the end of a turn until there is mail (typed text waits for Esc)',
      )
      .option('--dry-run', 'print the difference, and touch nothing')
      .option('--uninstall', 'take out the entries of init')
      .option('--yes', 'do not ask'),
    'init',
    'init claude codex --agent GreenCastle',
    'init gemini --no-hooks',
    'init --user --dry-run',
    'init --uninstall',
  ).action((clients: string[], flags: Flags) =>
    tellingPeople(screen, async () => {
      if (flags.user && flags.here) throw new UsageError('--user and --here exclude each other.', 'Pass one of them.')
      const plan = await initialising.plan(clients, flags)
      if (flags.dryRun) return showPlan(plan, flags, screen)
      if (plan.files.some(isChange)) {
        await screen.err(`${setUpText(plan, flags)}\n`)
        if (!flags.yes) await confirm(screen)
      }
      await tellDone(plan, { ...flags, done: initialising.carryOut(plan) }, screen)
    }),
  )

const isChange = ({ before, after }: PlannedFile): boolean => before !== after

/** A file that was left alone is a failure: something that was asked for was not done. */
function exit(files: readonly { readonly left: readonly string[] }[]): void {
  if (files.some(({ left }) => left.length > 0)) throw new CommanderError(1, 'parley.init', '')
}

async function showPlan(plan: InitPlan, { json }: Flags, screen: Screen): Promise<void> {
  const diffs = plan.files.map(({ file, before, after }) => unifiedDiff(file, before, after))
  if (json) {
    const files = plan.files.map(({ file, clients, left }, n) => ({ file, clients, left, diff: diffs[n] ?? '' }))
    await outJson(screen, { ...facts(plan), dry_run: true, files })
  } else {
    await screen.out(diffs.map(harmlessText).join(''))
    for (const line of [...leftLines(plan.files), ...asideLines(plan)]) await screen.err(`${line}\n`)
    await screen.note('Nothing was written: this is a dry run.')
  }
  exit(plan.files)
}

const facts = ({ scope, folder, server, clients, userOnly, todo }: InitPlan) => ({
  ...{ scope, ...(scope === 'here' && { folder }), ...(server !== undefined && { server }) },
  ...{ clients, user_files_only: userOnly, todo },
})

/** The clients, where, and each file that changes. */
export function setUpText(plan: InitPlan, { uninstall = false }: Flags = {}): string {
  const where = plan.scope === 'user' ? 'for all your folders' : `for ${harmlessLine(plan.folder)}`
  const what = uninstall
    ? `This takes out the entries of init ${where}:`
    : `This sets up ${plan.clients.map(titleOf).join(', ')} ${where}, with ${harmlessLine(plan.server ?? '')}:`
  const lines = plan.files.filter(isChange).map(({ file, before, after }) => {
    const does = before === undefined ? 'make' : after === undefined ? 'remove' : 'change'
    return `  ${does.padEnd(7)} ${harmlessLine(file)}`
  })
  return [what, ...lines].join('\n')
}

async function confirm({ input }: Screen): Promise<void> {
  if (!input.tty)
    throw new UsageError('Nobody is there to ask.', 'Nothing was written. Pass --yes to do it, or --dry-run to see it.')
  const answer = await input.ask('Go on? [y/N] ')
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError('Nothing was written.', '`parley init --dry-run` shows every line.')
}

interface Done extends Flags {
  readonly done: readonly CarriedOut[]
}

async function tellDone(plan: InitPlan, { done, json, uninstall }: Done, screen: Screen): Promise<void> {
  if (json) await outJson(screen, { ...facts(plan), files: done })
  else await screen.out(doneText(plan, { done, uninstall: uninstall ?? false }))
  exit(done)
}

/** The outcome, and the steps that are left to a person. */
export function doneText(
  plan: InitPlan,
  { done, uninstall }: { done: readonly CarriedOut[]; uninstall: boolean },
): string {
  const changes = done.filter(({ did }) => did !== 'nothing')
  const lines = changes.map(({ file, did, backup }) => {
    const kept = backup !== undefined && did === 'changed' && !uninstall ? ` (before: ${harmlessLine(backup)})` : ''
    return `${did.padEnd(7)} ${harmlessLine(file)}${kept}`
  })
  const nothing =
    plan.clients.length === 0
      ? uninstall
        ? ['Nothing of init is there to take out.']
        : [`No client was found. Name one: parley init ${clientNames.slice(0, 3).join('|')}|…`]
      : ['All of it is there already: nothing was changed.']
  const settled = changes.length === 0 && leftLines(done).length === 0 ? nothing : lines
  const todo = uninstall ? [] : todoLines(plan)
  return `${[...settled, ...leftLines(done), ...asideLines(plan), ...todo].join('\n')}\n`
}

const leftLines = (files: readonly { readonly file: string; readonly left: readonly string[] }[]): string[] =>
  files.flatMap(({ file, left }) => left.map((why) => `left    ${harmlessLine(`${file}: ${why}`)}.`))

function asideLines({ userOnly, elsewhere }: InitPlan): string[] {
  const names = userOnly.map(titleOf).join(', ')
  return [
    ...(userOnly.length === 0
      ? []
      : [`${names}: user files alone. Set up by: parley init ${userOnly.join(' ')} --user`]),
    ...elsewhere.map((where) =>
      where === 'user'
        ? 'Also set up: your user files (parley init --uninstall --user takes them out)'
        : `Also set up: ${harmlessLine(where)} (parley init --uninstall --here, in that folder)`,
    ),
  ]
}

function todoLines({ todo }: InitPlan): string[] {
  if (todo.length === 0) return []
  return [
    '',
    'Still to do:',
    ...todo.map(({ client, says }) => `  ${client === '' ? '' : `${titleOf(client)}: `}${harmlessLine(says)}`),
  ]
}

const titleOf = (name: string): string => {
  const known = clientNames.find((one) => one === name)
  return known === undefined ? name : clientOf(known).title
}
