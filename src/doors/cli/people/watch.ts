/** `parley watch`: all mail as it comes, a line a message, until Ctrl-C. */
import type { Command } from 'commander'
import { followMail } from '../../../core/pages/follow-mail.ts'
import { readMessage } from '../../../core/pages/message.ts'
import { toMessage } from '../../words/page-mail.ts'
import { type Open, outJson } from '../commands.ts'
import { UsageError } from '../failures.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'
import { untilSignal } from '../terminal/until-signal.ts'
import { mailColumns, mailLine } from './mail-table.ts'
import { atDesk, type Desk, ofProject, peoplesCommand } from './person.ts'

interface Watching {
  readonly project?: string
  readonly thread?: string
  readonly json?: true
}

export function watchCommand(open: Open, screen: Screen): Command {
  const says = 'show all mail live, one line a message, until Ctrl-C; nothing is marked as read'
  const command = peoplesCommand(
    'watch',
    says,
    screen,
    '',
    '--project backend',
    '--thread 12 --json | jq .subject',
  ).option('--thread <id>', 'only this thread: the number of a message of it, or its name with --project')
  return ofProject(command).action((options: Watching) =>
    atDesk(open, screen, options, async (desk) => {
      const { hub, caller, json } = desk
      const { signal, release } = untilSignal()
      try {
        const place = await placeOf(desk, options)
        if (!json && !screen.tty) await screen.out(`${Object.keys(mailColumns).join('\t')}\n`)
        const leave = await followMail(hub, caller, {
          ...place,
          tell: (message) =>
            json
              ? outJson(screen, toMessage(message))
              : screen.out(mailLine(toMessage(message), screen, hub.clock.now())),
        })
        await screen.note(`— Watching ${harmlessLine(place.thread ?? place.project ?? 'all mail')}. Ctrl-C ends. —`)
        await ended(signal)
        leave()
      } finally {
        release()
      }
    }),
  )
}

/** A message tells of its thread and project; a name of a thread is one of a project. */
async function placeOf({ hub, caller }: Desk, { project, thread }: Watching): Promise<Omit<Watching, 'json'>> {
  if (thread === undefined || project !== undefined)
    return { ...(project !== undefined && { project }), ...(thread !== undefined && { thread }) }
  const [, id] = /^#?(\d{1,15})$/.exec(thread) ?? []
  if (id === undefined)
    throw new UsageError(
      'The name of a thread belongs to a project.',
      'Add --project, or name the thread by the number of a message of it.',
    )
  const message = await readMessage(hub, caller, Number(id))
  return { project: message.project, thread: message.thread ?? id }
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
