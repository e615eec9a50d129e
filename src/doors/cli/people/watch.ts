/** `parley watch`: all mail as it comes, a line a message, until Ctrl-C. */
import type { Command } from 'commander'
import type { Desk, FollowWish } from '../../words/desk.ts'
import { outJson, projectTyped } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'
import { untilSignal } from '../terminal/until-signal.ts'
import { mailColumns, mailLine } from './mail-table.ts'
import { atDesk, type OpenDesk, ofProject, peoplesCommand, type Where } from './person.ts'

interface Watching extends FollowWish, Where {
  readonly follow?: string
  readonly json?: true
}

export function watchCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'show all mail live, one line a message, until Ctrl-C; nothing is marked as read'
  const command = peoplesCommand(
    'watch',
    says,
    screen,
    '',
    '--project backend',
    '--follow backend',
    '--thread 12 --json | jq .subject',
  )
    .option('--thread <id>', 'only this thread: the number of a message of it, or its name with --project')
    .option(
      '--follow <project or number>',
      'only this project, or the thread of the message with this number',
      projectTyped,
    )
  return ofProject(command).action((options: Watching) =>
    atDesk(open, screen, options, async ({ desk, json }) => {
      const { signal, release } = untilSignal()
      const { promise: broken, reject } = Promise.withResolvers<never>()
      // It may break before anybody waits for that.
      broken.catch(() => {})
      try {
        const place = await placeOf(desk, followed(options))
        if (!json && !screen.tty) await screen.out(`${Object.keys(mailColumns(screen, desk.now())).join('\t')}\n`)
        const leave = await desk.follow(place, {
          tell: (message) => (json ? outJson(screen, message) : screen.out(mailLine(message, screen, desk.now()))),
          note: (says) => screen.note(`— ${says} —`),
          failed: reject,
        })
        await screen.note(`— Watching ${harmlessLine(place.thread ?? place.project ?? 'all mail')}. Ctrl-C ends. —`)
        await Promise.race([ended(signal), broken]).finally(leave)
      } finally {
        release()
      }
    }),
  )
}

/** `--follow` says in one word what --project and --thread say. */
function followed({ follow, ...wish }: Watching): Watching {
  if (follow === undefined) return wish
  if (wish.project !== undefined || wish.thread !== undefined)
    throw new UsageError('--follow names the project or the thread.', 'Leave out --project and --thread, or --follow.')
  return { ...wish, ...(number.test(follow) ? { thread: follow } : { project: follow }) }
}

const number = /^#?(\d{1,15})$/

/** A message tells of its thread and project; a name of a thread is one of a project. */
async function placeOf(desk: Desk, { project, thread }: Watching): Promise<FollowWish> {
  if (thread === undefined || project !== undefined) return { project, thread }
  const [, id] = number.exec(thread) ?? []
  if (id === undefined)
    throw new UsageError(
      'The name of a thread belongs to a project.',
      'Add --project, or name the thread by the number of a message of it.',
    )
  const { project: home, thread_id } = await desk.read(Number(id))
  return { project: home, thread: thread_id ?? id }
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
