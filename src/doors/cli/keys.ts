/** `parley keys`: keys of agents, so that nobody else acts as them. Whoever can open the database is its operator. */
import type { Command } from 'commander'
import { commons } from '../../base/names.ts'
import { operator } from '../../core/access/callers.ts'
import {
  createKey,
  type Key,
  listAllKeys,
  listKeys,
  type NewKey,
  revokeKeys,
  rotateKey,
} from '../../core/agents/keys.ts'
import { parseAddress } from '../words/fields.ts'
import { ago, iso } from '../words/times.ts'
import { examples, newCommand, type Open, withHub } from './commands.ts'
import { harmlessJson, word } from './harmless.ts'
import type { Screen } from './screen.ts'
import { type Column, table } from './tables.ts'

export function keysCommand(open: Open, screen: Screen): Command {
  return newCommand('keys', screen)
    .description('keys of agents')
    .addCommand(createCommand(open, screen))
    .addCommand(listCommand(open, screen))
    .addCommand(rotateCommand(open, screen))
    .addCommand(revokeCommand(open, screen))
}

interface Options {
  readonly project?: string
  readonly json?: boolean
}

const command = (name: string, says: string, screen: Screen, agent = '<agent>'): Command =>
  newCommand(name, screen)
    .description(says)
    .argument(agent, 'its name; without --project also name@project')
    .option('--project <slug or key>', `the project of the agent (default: ${commons})`)
    .option('--json', 'answer with JSON, for programs')

/** With --project the name is all of it: peers of the bus may have an "@" in theirs. */
function actingAs(called: string, { project: given }: Options) {
  const [name, project = commons] = given === undefined ? parseAddress(called) : [called, given]
  return { caller: operator, project, name }
}

async function tellKey(screen: Screen, { agent, key }: NewKey, { json = false }: Options): Promise<void> {
  if (json) return screen.out(`${harmlessJson({ agent: agent.name, key })}\n`)
  await screen.note(`The key of ${word(agent.name)}; it is not shown again. Send it as "Authorization: Bearer <key>".`)
  await screen.out(`${key}\n`)
}

const createCommand = (open: Open, screen: Screen): Command =>
  command('create', 'give an agent a key; from then on nobody acts as it without one', screen)
    .addHelpText('after', examples('keys create GreenCastle --project /srv/code/web'))
    .action((called: string, options: Options) =>
      withHub(open, screen, async (hub) => tellKey(screen, await createKey(hub, actingAs(called, options)), options)),
    )

const rotateCommand = (open: Open, screen: Screen): Command =>
  command('rotate', 'give an agent a new key; those that it had are no longer good', screen)
    .addHelpText('after', examples('keys rotate alice-agent'))
    .action((called: string, options: Options) =>
      withHub(open, screen, async (hub) => tellKey(screen, await rotateKey(hub, actingAs(called, options)), options)),
    )

const revokeCommand = (open: Open, screen: Screen): Command =>
  command('revoke', 'end the keys of an agent; it stays protected until it is given another', screen)
    .option('--key <prefix>', 'only the key that begins so, as "keys list" shows it')
    .addHelpText('after', examples('keys revoke alice-agent', 'keys revoke alice-agent --key amb_3f9a'))
    .action((called: string, options: Options & { key?: string }) =>
      withHub(open, screen, async (hub) => {
        const { agent, revoked } = await revokeKeys(hub, actingAs(called, options), options.key)
        if (options.json) return screen.out(`${harmlessJson({ agent: agent.name, revoked })}\n`)
        await screen.out(`${revoked === 1 ? 'One key' : `${revoked} keys`} of ${word(agent.name)} ended.\n`)
      }),
    )

const listCommand = (open: Open, screen: Screen): Command =>
  command('list', 'list the keys of an agent, or of all', screen, '[agent]')
    .addHelpText('after', examples('keys list', 'keys list alice-agent'))
    .action((called: string | undefined, options: Options) =>
      withHub(open, screen, async (hub) => {
        const { keys, more } =
          called === undefined
            ? await listAllKeys(hub, operator)
            : { keys: await listKeys(hub, actingAs(called, options)), more: false }
        if (options.json) return screen.out(`${harmlessJson({ keys: keys.map(toShape), has_more: more })}\n`)
        if (keys.length === 0) return screen.note('There are no keys.')
        const now = hub.clock.now()
        const rows = keys.map(({ prefix, agent, project, createdAt }) => [
          prefix === undefined ? '(unknown)' : `${prefix}…`,
          agent,
          project,
          screen.tty ? ago(createdAt, now) : iso(createdAt),
        ])
        await screen.out(table(columns, rows, screen))
        if (more) await screen.note('There are more.')
      }),
    )

const columns: readonly Column[] = [
  { title: 'key' },
  { title: 'agent', shrinks: true },
  { title: 'project', shrinks: true },
  { title: 'made' },
]

const toShape = ({ agent, project, prefix, createdAt }: Key) => ({
  agent,
  project,
  prefix: prefix ?? null,
  created_at: iso(createdAt),
})
