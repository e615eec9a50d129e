/** The caller of the commands for people: a person, or the agent whose key is set. */
import type { Command } from 'commander'
import { type Caller, person } from '../../../core/access/callers.ts'
import { agentOf } from '../../../core/access/rules.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { atLeast, newCommand, type Open, withHub, withJson } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'

export interface Desk {
  readonly hub: Hub
  readonly caller: Caller
  readonly screen: Screen
  readonly json: boolean
}

/** With a key set, the process is that agent's: to write as people do would be to act as somebody else. */
async function callerAt(open: Open, hub: Hub): Promise<Caller> {
  const own = await open.asWhom?.(hub)
  return own !== undefined && agentOf(own) !== undefined ? own : person
}

export const atDesk = (
  open: Open,
  screen: Screen,
  { json }: { readonly json?: true },
  work: (desk: Desk) => Promise<void>,
): Promise<void> =>
  withHub(open, screen, async (hub) => work({ hub, caller: await callerAt(open, hub), screen, json: json === true }))

/** The lines of the help begin with the name of the command. */
export const peoplesCommand = (name: string, says: string, screen: Screen, ...shown: string[]): Command =>
  withJson(newCommand(name, screen).description(says), ...shown.map((line) => `${name} ${line}`.trimEnd()))

export const ofProject = (command: Command, says = 'only this project'): Command =>
  command.option('--project <slug or key>', says)

export const atMost = (command: Command, usual: number): Command =>
  command.option('--limit <n>', 'how many at most', atLeast(1), usual)
