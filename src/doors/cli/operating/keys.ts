/** `parley keys`: keys of agents, so that nobody else acts as them. The database is open to its operator only. */
import type { Command } from 'commander'
import { limits } from '../../../base/limits.ts'
import { commons } from '../../../base/names.ts'
import { operator } from '../../../core/access/callers.ts'
import { createKey, type Key, listAllKeys, listKeys, revokeKeys, rotateKey } from '../../../core/agents/keys.ts'
import { parseAddress } from '../../words/addresses.ts'
import { iso } from '../../words/times.ts'
import { atLeast, newCommand, type Open, outJson, outList, projectTyped, withHub, withJson } from '../commands.ts'
import { word } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'

interface Options {
  readonly project?: string
  readonly json?: boolean
}

/** With --project the name is all of it: peers of the bus may have an "@" in theirs. */
function actingAs(called: string, { project: given }: Options) {
  const [name, project = commons] = given === undefined ? parseAddress(called) : [called, given]
  return { caller: operator, project, name }
}

export function keysCommand(open: Open, screen: Screen): Command {
  const keys = newCommand('keys', screen).description('keys of agents')

  const command = (name: string, description: string, ...shown: string[]): Command =>
    withJson(
      keys
        .command(name)
        .description(description)
        .argument(name === 'list' ? '[agent]' : '<agent>', 'its name; without --project also name@project')
        .option('--project <slug or key>', `the project of the agent (default: ${commons})`, projectTyped),
      ...shown.map((line) => `keys ${name} ${line}`.trimEnd()),
    )

  const giveKey = (make: typeof createKey) => (called: string, options: Options) =>
    withHub(open, screen, async (hub) => {
      const { agent, key, created } = await make(hub, actingAs(called, options))
      if (options.json) return outJson(screen, { agent: agent.name, key, created })
      if (created) await screen.note(`${word(agent.name)} is new: it was made with its key.`)
      await screen.note(
        `The key of ${word(agent.name)}; it is not shown again. Send it as "Authorization: Bearer <key>".`,
      )
      await screen.out(`${key}\n`)
    })

  command(
    'create',
    'give an agent a key, also one that is not there yet; from then on nobody acts as it without one',
    'GreenCastle --project /srv/code/web',
  ).action(giveKey(createKey))

  command('list', 'list the keys of an agent, or of all', '', 'alice-agent')
    .option('--limit <n>', 'of all: how many at most', atLeast(1), limits.listed)
    .action((called: string | undefined, options: Options & { limit: number }) =>
      withHub(open, screen, async (hub) => {
        const { keys, more } =
          called === undefined
            ? await listAllKeys(hub, operator, options)
            : { keys: await listKeys(hub, actingAs(called, options)), more: false }
        return outList(screen, options, {
          document: { keys: keys.map(toShape) },
          rows: keys,
          columns: {
            key: ['left', ({ prefix }) => (prefix === undefined ? '(unknown)' : `${prefix}…`)],
            agent: ['shrinks', ({ agent }) => agent],
            project: ['shrinks', ({ project }) => project],
            made: ['left', ({ createdAt }) => when(screen, createdAt, hub.clock.now())],
          },
          none: 'There are no keys.',
          hasMore: more,
        })
      }),
    )

  command('rotate', 'give an agent a new key; its old keys end', 'alice-agent').action(giveKey(rotateKey))

  command(
    'revoke',
    'revoke the keys of an agent; nobody can act as it until it has a new one',
    'alice-agent',
    'alice-agent --key amb_3f9a',
  )
    .option('--key <prefix>', 'only the key with this beginning, as "keys list" shows it')
    .action((called: string, options: Options & { key?: string }) =>
      withHub(open, screen, async (hub) => {
        const { agent, revoked } = await revokeKeys(hub, actingAs(called, options), options.key)
        if (options.json) return outJson(screen, { agent: agent.name, revoked })
        await screen.out(`${revoked === 1 ? 'One key' : `${revoked} keys`} of ${word(agent.name)} ended.\n`)
      }),
    )

  return keys
}

const toShape = ({ agent, project, prefix, createdAt }: Key) => ({
  agent,
  project,
  prefix: prefix ?? null,
  created_at: iso(createdAt),
})
