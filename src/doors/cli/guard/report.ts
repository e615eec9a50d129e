/** The report of a guard to the committer: the holder of each file, until when and why, and the next step. */
import { clock, hence } from '../../words/times.ts'
import { harmlessLine, word } from '../terminal/harmless.ts'

interface Collision {
  readonly lease: {
    readonly agent: string
    readonly pattern: string
    readonly reason: string
    readonly expiresAt: number
  }
  readonly paths: readonly string[]
}

interface Circumstances {
  /** AGENT_NAME, or ''. */
  readonly committer: string
  /** The commit is made anyway. */
  readonly passes: boolean
  readonly now: number
}

/** More would push the first off the screen. */
const mostLeases = 20
const mostPaths = 5

export function guardReport(collisions: readonly Collision[], { committer, passes, now }: Circumstances): string {
  const holders = [...new Set(collisions.map(({ lease }) => word(lease.agent)))].slice(0, mostLeases).join(', ')
  const lines = [
    `parley guard: ${passes ? 'warning: ' : ''}this commit has files that other agents have reserved.`,
    '',
    ...collisions.slice(0, mostLeases).flatMap((collision) => [...told(collision, now), '']),
    ...(collisions.length > mostLeases ? [`  and ${collisions.length - mostLeases} more reservations`, ''] : []),
    ...(passes ? ['The commit is made anyway, because PARLEY_GUARD is "warn".'] : advice(holders, committer)),
  ]
  return `${lines.join('\n')}\n`
}

function told({ lease: { agent, pattern, reason, expiresAt }, paths }: Collision, now: number): string[] {
  const why = reason === '' ? 'no reason given' : harmlessLine(reason)
  return [
    `  ${harmlessLine(pattern)}  held by ${word(agent)} until ${clock(expiresAt, now)} (${hence(expiresAt, now)}): ${why}`,
    ...paths.slice(0, mostPaths).map((path) => `    ${shownPath(path)}`),
    ...(paths.length > mostPaths ? [`    and ${paths.length - mostPaths} more files`] : []),
  ]
}

/** A name with spaces at its ends or signs that steer a terminal is shown in quotes. */
const shownPath = (path: string): string =>
  path === harmlessLine(path) && path === path.trim() ? path : harmlessLine(JSON.stringify(path))

function advice(holders: string, committer: string): string[] {
  const who =
    committer === ''
      ? "AGENT_NAME is not set, and the commit counts as a person's. An agent sets AGENT_NAME to its name: its own reservations do not stop it."
      : `You commit as ${word(committer)} (AGENT_NAME).`
  return [
    'Nothing was committed. To continue:',
    `  - ask ${holders} to release the files, or wait until then;`,
    '  - or leave them out of this commit: git restore --staged -- <file>',
    who,
    ...(committer === '' ? ['A person who knows better commits with PARLEY_GUARD=warn.'] : []),
  ]
}
