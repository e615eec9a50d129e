/** `parley doctor`: shows each finding and its remedy. */
import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { newCommand, outJson, tellingPeople, withJson } from '../commands.ts'
import { harmlessText } from '../terminal/harmless.ts'
import { count } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { paint } from '../terminal/tables.ts'

export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'fault'
  readonly says: string
  /** The next step. */
  readonly advice?: string
}

const marks = { ok: ['ok', 'green'], warning: ['warning', 'yellow'], fault: ['FAULT', 'red'] } as const

export interface DoctorWish {
  /** Ask every door of the running server, too. */
  readonly endpoints?: boolean
  /** A repository whose guard is looked at, too. */
  readonly guard?: string
}

export const doctorCommand = (examine: (wish: DoctorWish) => AsyncIterable<Finding>, screen: Screen): Command =>
  withJson(
    newCommand('doctor', screen)
      .description('look for faults of this installation; changes nothing, exit code 1 if there is a fault')
      .option('--endpoints', 'ask every door of the running server, too')
      .option('--guard <repo>', 'look at the pre-commit guard of a repository, too'),
    'doctor',
    'doctor --endpoints --guard /srv/backend',
    'doctor --json',
  ).action(({ json, ...wish }: DoctorWish & { json?: true }) =>
    tellingPeople(screen, async () => {
      const findings: Finding[] = []
      for await (const finding of examine(wish)) {
        findings.push(finding)
        if (!json) await screen.out(line(screen, finding))
      }
      const faults = findings.filter(({ status }) => status === 'fault').length
      if (json) await outJson(screen, { sound: faults === 0, findings })
      if (faults > 0)
        throw new HubError('STORAGE_FAILED', `There ${faults === 1 ? 'is' : 'are'} ${count(faults, 'fault')}.`, {
          hint: 'The line of each fault names the next step.',
        })
    }),
  )

function line(screen: Screen, { check, status, says, advice }: Finding): string {
  const [mark, color] = marks[status]
  const rest = advice === undefined ? '' : `${' '.repeat(21)}→ ${harmlessText(advice)}\n`
  return `${paint(screen, color, mark.padEnd(8))} ${check.padEnd(11)} ${harmlessText(says).replaceAll('\n', `\n${' '.repeat(21)}`)}\n${rest}`
}
