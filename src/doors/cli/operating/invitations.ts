/** `parley invite` and `parley invitations`: links that let the owner of an agent on another machine in. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { limits } from '../../../base/limits.ts'
import { commons } from '../../../base/names.ts'
import { operator } from '../../../core/access/callers.ts'
import {
  type InvitedDoor,
  type Inviting,
  invite,
  invitedDoors,
  listInvitations,
  revokeInvitation,
} from '../../../core/agents/invitations.ts'
import { longestDays, readDuration } from '../../words/durations.ts'
import { joinLine, toInvitation, toInvited } from '../../words/invitations.ts'
import { iso } from '../../words/times.ts'
import { atLeast, newCommand, type Open, outJson, outList, projectTyped, withHub, withJson } from '../commands.ts'
import { word } from '../terminal/harmless.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'

/** The server as those who are invited know it. */
export interface Reach {
  readonly url: string
  /** Whether HTTP_PUBLIC_URL names it: any other address may be good on this machine only. */
  readonly isPublic: boolean
}

interface Options {
  readonly project?: string
  readonly door?: InvitedDoor
  readonly expires: number
  readonly json?: boolean
}

function duration(given: string): number {
  const ms = readDuration(given)
  if (ms === undefined)
    throw new InvalidArgumentError(`It must be a time such as 30m, 24h or 7d, at most ${longestDays}d.`)
  return ms
}

export const inviteCommand = (open: Open, reach: () => Reach, screen: Screen): Command =>
  withJson(
    newCommand('invite', screen)
      .description('print one line that gives the owner of an agent its key, once; the agent need not exist yet')
      .argument('<agent>', 'its name')
      .option('--project <slug or key>', `the project of the agent (default: ${commons})`, projectTyped)
      .addOption(
        new Option('--door <door>', 'the door that it will use (default: mail with --project, else mailbox)').choices(
          invitedDoors,
        ),
      )
      .addOption(
        new Option('--expires <time>', 'how long the line works: 30m, 24h, 7d')
          .argParser(duration)
          .default(86_400_000, '24h'),
      ),
    'invite bob',
    'invite GreenCastle --project /srv/code/web --expires 7d',
  ).action((name: string, { project, door, expires, json }: Options) =>
    withHub(open, screen, async (hub) => {
      const usual = project === undefined ? 'mailbox' : 'mail'
      const inviting: Inviting = { project: project ?? commons, name, door: door ?? usual, ttlMs: expires }
      const { url, isPublic } = reach()
      const invited = await invite(hub, operator, inviting)
      const shown = toInvited({ ...invited, door: inviting.door }, url)
      if (json) return outJson(screen, shown)
      if (!isPublic)
        await screen.note('HTTP_PUBLIC_URL is not set: this address may not be reachable from another machine.')
      await screen.note(
        `For the owner of ${word(shown.agent)}; it works once, until ${shown.expires_at}. Send it where nobody else reads it.`,
      )
      if (invited.replaced) await screen.note(`The earlier link for ${word(shown.agent)} works no more.`)
      await screen.out(`${joinLine(shown.link)}\n`)
    }),
  )

export function invitationsCommand(open: Open, screen: Screen): Command {
  const invitations = newCommand('invitations', screen).description('invitations that nobody has used yet')

  withJson(
    invitations
      .command('list')
      .description('list the invitations that can still be used')
      .option('--limit <n>', 'how many at most', atLeast(1), limits.listed),
    'invitations list',
  ).action((options: { json?: boolean; limit: number }) =>
    withHub(open, screen, async (hub) => {
      const { invitations, more } = await listInvitations(hub, operator, options)
      return outList(screen, options, {
        document: { invitations: invitations.map(toInvitation) },
        rows: invitations,
        columns: {
          agent: ['shrinks', ({ agent }) => agent],
          project: ['shrinks', ({ project }) => project],
          door: ['left', ({ door }) => door],
          made: ['left', ({ createdAt }) => when(screen, createdAt, hub.clock.now())],
          until: ['left', ({ expiresAt }) => iso(expiresAt)],
        },
        none: 'There are no open invitations.',
        hasMore: more,
      })
    }),
  )

  withJson(
    invitations
      .command('revoke')
      .description('end the invitation of an agent: its link stops working')
      .argument('<agent>', 'its name')
      .option('--project <slug or key>', `the project of the agent (default: ${commons})`, projectTyped),
    'invitations revoke bob',
  ).action((name: string, { project = commons, json }: { project?: string; json?: boolean }) =>
    withHub(open, screen, async (hub) => {
      await revokeInvitation(hub, operator, { project, name })
      if (json) return outJson(screen, { agent: name, revoked: true })
      await screen.out(`The invitation of ${word(name)} is no longer good.\n`)
    }),
  )

  return invitations
}
