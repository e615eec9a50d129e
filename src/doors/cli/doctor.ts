/** `parley doctor`: shows what was found, and what to do about it. */
import type { Command } from 'commander'
import { HubError } from '../../base/errors.ts'
import { examples, newCommand, tellingPeople } from './commands.ts'
import { harmlessJson, harmlessText } from './harmless.ts'
import { count } from './reading.ts'
import type { Screen } from './screen.ts'
import { paint } from './tables.ts'

export interface Finding {
  /** What was looked at. */
  readonly check: string
  readonly status: 'ok' | 'warning' | 'fault'
  readonly says: string
  /** What to do about it. */
  readonly advice?: string
}

const marks = { ok: ['ok', 'green'], warning: ['warning', 'yellow'], fault: ['FAULT', 'red'] } as const

export const doctorCommand = (examine: () => AsyncIterable<Finding>, screen: Screen): Command =>
  newCommand('doctor', screen)
    .description('look for what is wrong with this installation; changes nothing, exit code 1 if there is a fault')
    .option('--json', 'answer with JSON, for programs')
    .addHelpText('after', examples('doctor', 'doctor --json'))
    .action(({ json }: { json?: true }) =>
      tellingPeople(screen, async () => {
        const findings: Finding[] = []
        for await (const finding of examine()) {
          findings.push(finding)
          if (!json) await screen.out(line(screen, finding))
        }
        const faults = findings.filter(({ status }) => status === 'fault').length
        if (json) await screen.out(`${harmlessJson({ sound: faults === 0, findings })}\n`)
        if (faults > 0)
          throw new HubError('STORAGE_FAILED', `There ${faults === 1 ? 'is' : 'are'} ${count(faults, 'fault')}.`, {
            hint: 'Each of them says what to do about it.',
          })
      }),
    )

function line(screen: Screen, { check, status, says, advice }: Finding): string {
  const [mark, color] = marks[status]
  const rest = advice === undefined ? '' : `${' '.repeat(21)}→ ${harmlessText(advice)}\n`
  return `${paint(screen, color, mark.padEnd(8))} ${check.padEnd(11)} ${harmlessText(says).replaceAll('\n', `\n${' '.repeat(21)}`)}\n${rest}`
}
