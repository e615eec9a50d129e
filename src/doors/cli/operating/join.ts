/** `parley join`: shows what an invitation is about to do, asks, and stores the key that it gives. */
import { text } from 'node:stream/consumers'
import { type Command, CommanderError } from 'commander'
import { newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { harmlessLine, word } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'
import { doneText, type Initialising, type InitPlan, setUpText } from './init.ts'

export interface Plan {
  readonly server: string
  readonly agent: string
  /** Of the invitation. */
  readonly code?: string
  /** A key that was given by hand, in place of an invitation. */
  readonly key?: string
  /** Where the key will be stored. */
  readonly file: string
  /** Whether a key of that agent is stored there. */
  readonly held: boolean
  /** Whether others on the way can read the key: http to another machine. */
  readonly readable: boolean
}

export interface Joined {
  readonly agent: string
  readonly project: string
  readonly door: string
  /** Whether the server took the new key. */
  readonly connected: boolean
}

export interface Joining {
  /** Asks nobody: the link alone tells. */
  plan(link: string): Plan
  /** Asks the server whose key it is. */
  planKey(server: string, key: string): Promise<Plan>
  /** Throws, and stores nothing, where the server answers with another agent (cli.join.lies). */
  join(plan: Plan): Promise<Joined>
}

interface Options {
  readonly key?: string
  readonly yes?: boolean
  readonly json?: boolean
}

export const joinCommand = (joining: Joining, initialising: Initialising, screen: Screen): Command =>
  withJson(
    newCommand('join', screen)
      .description(
        'use an invitation: store the key of an agent at the server of the link, and set up the clients that are found',
      )
      .argument('<link>', 'the link of the invitation, https://…/join/NAME-code; with --key the URL of the server')
      .option('--key <->', 'store the key that is read from stdin, in place of an invitation; needs --yes')
      .option('--yes', 'do not ask'),
    'join https://parley.example/join/bob-4k2v…',
    'join https://parley.example --key - --yes < key.txt',
  ).action((link: string, { key, yes = false, json }: Options) =>
    tellingPeople(screen, async () => {
      if (key !== undefined) needStdin(key, yes)
      const plan =
        key === undefined ? joining.plan(link) : await joining.planKey(link, (await text(screen.input.read())).trim())
      const { server, file } = plan
      const set = await initialising.plan([], { server, agent: plan.agent })
      await screen.err(planText(plan, set))
      if (!yes) await confirm(screen)
      const { agent, project, door, connected } = await joining.join(plan)
      if (!json) await screen.out(joinedText(plan, { agent, project, door, connected }))
      const init = connected ? await initialising.plan([], { server, agent }) : undefined
      const done = init === undefined ? [] : initialising.carryOut(init)
      if (json)
        await outJson(screen, {
          server,
          agent,
          project,
          door,
          file,
          connected,
          clients: init?.clients ?? [],
          files: done,
        })
      else if (init !== undefined) await screen.out(`\n${doneText(init, { done, uninstall: false })}`)
      if (!connected) throw new CommanderError(1, 'parley.join', '')
    }),
  )

/** Arguments of a process are read by others. */
function needStdin(key: string, yes: boolean): void {
  if (key !== '-') throw new UsageError('A key is no argument.', 'Pass --key -, and write the key on stdin.')
  if (!yes) throw new UsageError('Stdin has the key, and cannot be asked.', 'Pass --yes to store it.')
}

const planText = ({ server, agent, key, file, held, readable }: Plan, set: InitPlan): string =>
  [
    key === undefined
      ? `This asks ${harmlessLine(server)} for the key of the agent ${word(agent)},`
      : `This takes the key of the agent ${word(agent)} at ${harmlessLine(server)},`,
    `and stores it in ${harmlessLine(file)}, for you alone.${key === undefined ? ' The link then works no more.' : ''}`,
    ...(held
      ? [
          `It takes the place of the key there${key === undefined ? ', if the server does not take that one any more' : ''}.`,
        ]
      : []),
    set.clients.length === 0
      ? 'It finds no MCP client to set up.'
      : `Then, as \`parley init\` does:\n${setUpText(set)}`,
    ...(readable ? ['The address is http: others on the network can read the key. Ask for an https link.'] : []),
    '',
  ].join('\n')

async function confirm({ input }: Screen): Promise<void> {
  if (!input.tty) throw new UsageError('Nobody is there to ask.', 'Nothing was done. Pass --yes to do it.')
  const answer = await input.ask('Go on? [y/N] ')
  if (/^y(es)?$/i.test(answer.trim())) return
  throw new UsageError('Nothing was done.', 'The invitation is still good.')
}

function joinedText({ server, agent: named }: Plan, { agent, project, connected }: Joined): string {
  const at = `--server ${harmlessLine(server)}`
  return [
    `You are ${word(agent)} at ${harmlessLine(server)}, in the project ${word(project)}.`,
    connected
      ? 'The server takes the key.'
      : 'The key is stored, but the server does not take it: ask for a new invitation, and join again.',
    '',
    `Set up your clients:    parley init ${at} (done below for the clients that are found)`,
    `Or let a client start:  npx parley-hub connect ${at} --agent ${word(named)}`,
    '',
  ].join('\n')
}
