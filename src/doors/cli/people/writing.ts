/** `parley send` and `parley reply`: a person writes as the overseer, as on the pages. */
import type { Command } from 'commander'
import { limits } from '../../../base/limits.ts'
import { atLeast, outJson } from '../commands.ts'
import { harmlessLine } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'
import { typedText } from '../terminal/typed.ts'
import { atDesk, type OpenDesk, ofProject, peoplesCommand, personsCommand, type Where } from './person.ts'

interface Sending extends Where {
  readonly subject?: string
  readonly project?: string
  readonly thread?: string
  readonly json?: true
}

const typed = (command: Command): Command =>
  command.argument('[text...]', 'the message; without it, or with "-", it is read from standard input')

export function sendCommand(open: OpenDesk, screen: Screen): Command {
  const says = 'write to agents as the human overseer, with the preamble that asks them to put it first'
  const lines = ['BlueLake "Please stop and read #12."', 'BlueLake,Ann@frontend --subject "Stop" < notes.md']
  const command = personsCommand('send', says, screen, ...lines)
    .argument('<to>', 'an agent, or Name@project; several with commas between them')
    .option('--subject <text>', 'the subject (default: the first line of the message)')
    .option('--thread <id>', 'the thread to write into')
  const described = ofProject(typed(command), 'the project of names without one (default: the only one that has them)')
  return described.action((to: string, words: string[], options: Sending) =>
    atDesk(open, screen, options, async ({ desk, json }) => {
      const { subject, project, thread } = options
      const recipients = to.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
      const body = await typedText(screen, words, limits.bodyBytes)
      const receipt = await desk.send({ to: recipients, project, subject, thread, body })
      if (json) return outJson(screen, receipt)
      for (const { message_id, project: home, recipients } of receipt.sent) {
        const names = recipients.map((name) => `${name}@${home}`).join(', ')
        await screen.out(`${harmlessLine(`Sent #${message_id} to ${names} as HumanOverseer.`)}\n`)
      }
      for (const { recipient, message } of receipt.blocked)
        await screen.note(harmlessLine(`${recipient} did not get it: ${message}`))
      if (receipt.note !== undefined) await screen.note(harmlessLine(receipt.note))
    }),
  )
}

export function replyCommand(open: OpenDesk, screen: Screen): Command {
  const says =
    'answer a message as the human overseer, to all who take part in its thread; with --agent as that agent, to its sender'
  const command = peoplesCommand('reply', says, screen, '12 "Go ahead."', '12 < answer.md').argument(
    '<id>',
    'the number of the message, from the list',
    atLeast(1),
  )
  return typed(command).action((id: number, words: string[], options: Where & { readonly json?: true }) =>
    atDesk(open, screen, options, async ({ desk, json }) => {
      const body = await typedText(screen, words, limits.bodyBytes)
      const answered = await desk.reply({ id, body })
      if (json) return outJson(screen, answered)
      const { message_id, thread_id, project } = answered
      const sent = message_id === null ? '' : ` with #${message_id}`
      await screen.out(`${harmlessLine(`Answered #${id}${sent} in ${thread_id} of ${project}.`)}\n`)
    }),
  )
}
