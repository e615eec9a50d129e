/** `parley health`: whether a server is ready, as an exit code, for containers and scripts. */
import { type Command, CommanderError } from 'commander'
import { newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'

export interface Health {
  readonly url: string
  readonly ready: boolean
  /** `ready`, `unavailable`, `stopping`, or why nothing answered. */
  readonly status: string
}

export const healthCommand = (healthOf: () => Promise<Health>, screen: Screen): Command =>
  withJson(
    newCommand('health', screen).description(
      'ask the server at HTTP_HOST and HTTP_PORT whether it is ready; exit code 1 if it is not',
    ),
    'health',
    'health --json',
  ).action(({ json }: { json?: true }) =>
    tellingPeople(screen, async () => {
      const health = await healthOf()
      await (json ? outJson(screen, health) : screen.out(`${harmlessLine(`${health.url}: ${health.status}`)}\n`))
      if (!health.ready) throw new CommanderError(1, 'parley.health', '')
    }),
  )
