/** `parley loops`: threads and pairs of agents whose waking is paused, because they only answered each other. */
import type { Command } from 'commander'
import { type Loop, listLoops, resumeLoop } from '../../../core/pages/loops.ts'
import { iso } from '../../words/times.ts'
import { callerOf, examples, newCommand, type Open, outJson, outList, withHub, withJson } from '../commands.ts'
import { word } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'

interface Options {
  readonly json?: true
}

const toLoop = ({ id, thread, project, agents, pausedAt }: Loop) => ({
  id,
  thread: thread ?? null,
  project,
  agents: [...agents],
  paused_ts: iso(pausedAt),
})

export function loopsCommand(open: Open, screen: Screen): Command {
  const loops = newCommand('loops', screen)
    .description('show and end pauses of waking: list, resume')
    .addHelpText('after', examples('loops list', 'loops resume thread-12'))

  withJson(
    loops.command('list').description('list the pauses, the latest first'),
    'loops list',
    'loops list --json',
  ).action((options: Options) =>
    withHub(open, screen, async (hub) => {
      const loops = await listLoops(hub, await callerOf(open, hub))
      return outList(screen, options, {
        document: { loops: loops.map(toLoop) },
        rows: loops,
        columns: {
          id: ['left', ({ id }) => id],
          thread: ['shrinks', ({ thread = 'all' }) => thread],
          project: ['shrinks', ({ project }) => project],
          agents: ['shrinks', ({ agents }) => agents.join(', ')],
          paused: ['left', ({ pausedAt }) => when(screen, pausedAt, hub.clock.now())],
        },
        none: 'Waking is paused nowhere.',
      })
    }),
  )

  withJson(
    loops.command('resume').description('let the agents be woken again, counted from zero'),
    'loops resume thread-12',
    'loops resume TKT-123 --json',
  )
    .argument('<id>', 'the id of the pause, or the name of its thread')
    .action((id: string, { json }: Options) =>
      withHub(open, screen, async (hub) => {
        const loop = await resumeLoop(hub, await callerOf(open, hub), id)
        if (json) return outJson(screen, { resumed: toLoop(loop) })
        await screen.out(`Wakes go on for ${loop.agents.map(word).join(', ')} (${loop.id}).\n`)
      }),
    )
  return loops
}
