/** `parley keys`: giving an agent a key, so that nobody else acts as it. Whoever can open the database is its operator. */
import type { Command } from 'commander'
import { commons } from '../../base/names.ts'
import { operator } from '../../core/access/callers.ts'
import { createKey } from '../../core/agents/keys.ts'
import { parseAddress } from '../words/fields.ts'
import { examples, newCommand, type Open, withHub } from './commands.ts'
import { harmlessJson, word } from './harmless.ts'
import type { Screen } from './screen.ts'

export function keysCommand(open: Open, screen: Screen): Command {
  return newCommand('keys', screen).description('keys of agents').addCommand(createCommand(open, screen))
}

const createCommand = (open: Open, screen: Screen): Command =>
  newCommand('create', screen)
    .description('give an agent a key; from then on nobody acts as it without one')
    .argument('<agent>', 'its name; without --project also name@project')
    .option('--project <slug or key>', `the project of the agent (default: ${commons})`)
    .option('--json', 'answer with JSON, for programs')
    .addHelpText('after', examples('keys create GreenCastle --project /srv/code/web'))
    .action((called: string, { project: given, json = false }: { project?: string; json?: boolean }) =>
      withHub(open, screen, async (hub) => {
        // With --project the name is all of it: peers of the bus may have an "@" in theirs.
        const [name, project = commons] = given === undefined ? parseAddress(called) : [called, given]
        const { agent, key } = await createKey(hub, { caller: operator, project, name })
        if (json) return screen.out(`${harmlessJson({ agent: agent.name, key })}\n`)
        await screen.note(
          `The key of ${word(agent.name)}; it is not shown again. Send it as "Authorization: Bearer <key>".`,
        )
        await screen.out(`${key}\n`)
      }),
    )
