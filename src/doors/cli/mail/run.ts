/** `parley run`: what is asked for; the starting is `start`'s. */
import type { Command } from 'commander'
import { atLeast, examples, newCommand, tellingPeople } from '../commands.ts'
import type { Screen } from '../terminal/screen.ts'
import { untilSignal } from '../terminal/until-signal.ts'

interface RunAsked {
  readonly agent: string
  readonly command: readonly [string, ...string[]]
  readonly project?: string
  readonly server?: string
  readonly maxPerHour: number
  readonly timeout?: number
  readonly concurrency: number
}

interface Starting {
  readonly signal: AbortSignal
  note(says: string): Promise<void>
}

const more = `
The mail of one thread is on loan until the command ends: acknowledged when it ends with 0, else back in
the mailbox, and a dead letter after MAILBOX_MAX_ATTEMPTS (5 where that is 0; \`parley dead-letters\`).
If \`parley run\` is killed, the mail is back within a minute.

{prompt} becomes a pointer made by Parley: how many messages, from whom, their ids and thread, and the calls
that fetch them. Subjects and texts never reach an argument. The command gets PARLEY_RUN, which \`parley
connect\` passes on, so that the agent's check_mail and fetch_inbox hand it this mail. There is no shell:
each word is an argument as it stands.
`

export function runCommand(start: (asked: RunAsked, starting: Starting) => Promise<void>, screen: Screen): Command {
  return newCommand('run', screen)
    .description('start a fresh agent for mail: a command, for each thread that has some')
    .argument('<agent>', 'the agent whose mail it is')
    .argument('<command...>', 'the command, behind --, with {prompt} among its arguments')
    .option('--project <slug or key>', 'its project (default: that of the key that is held, else commons)')
    .option('--server <url>', 'the server (default: PARLEY_SERVER, else http://127.0.0.1:8765)')
    .option('--max-per-hour <n>', 'most commands that are started within an hour', atLeast(1), 30)
    .option('--timeout <seconds>', 'end a command that takes longer', atLeast(1))
    .option('--concurrency <n>', 'most commands at once, each for another thread', atLeast(1), 1)
    .addHelpText(
      'after',
      more + examples("run reviewer -- claude -p '{prompt}'", "run reviewer --timeout 900 -- codex exec '{prompt}'"),
    )
    .action((agent: string, command: [string, ...string[]], options: Omit<RunAsked, 'agent' | 'command'>) =>
      tellingPeople(screen, async () => {
        const { signal, release } = untilSignal()
        try {
          await start({ ...options, agent, command }, { signal, note: (says) => screen.note(says) })
        } finally {
          release()
        }
      }),
    )
}
