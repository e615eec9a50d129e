/** `parley file_reservations`: which paths agents have reserved, and until when; a person may free them. */

import type { Command } from 'commander'
import { HubError } from '../../../base/errors.ts'
import { local, operator } from '../../../core/access/callers.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { type Lease, listExpiring, listLeases } from '../../../core/leases/leases.ts'
import { type Freed, freeLeases } from '../../../core/mail/freeing.ts'
import { needProject } from '../../../core/projects/projects.ts'
import { toReservation } from '../../words/leases.ts'
import { ago, hence, iso } from '../../words/times.ts'
import {
  atLeast,
  examples,
  newCommand,
  type Open,
  ofProject,
  outJson,
  outList,
  withHub,
  withJson,
} from '../commands.ts'
import { harmlessLine, word } from '../terminal/harmless.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Columns } from '../terminal/tables.ts'

interface Shared {
  readonly limit: number
  readonly json?: true
}

interface Found {
  readonly leases: readonly Lease[]
  readonly hasMore: boolean
  readonly now: number
}

export function leasesCommand(open: Open, screen: Screen): Command {
  const reservations = newCommand('file_reservations', screen)
    .description('show which paths agents have reserved, and free them: list, active, soon, release')
    .addHelpText('after', examples('file_reservations active backend', 'file_reservations soon backend --minutes 10'))

  const command = (name: string, description: string, ...shown: string[]): Command =>
    withJson(
      ofProject(reservations.command(name).description(description)),
      ...shown.map((line) => `file_reservations ${name} ${line}`),
    )
  const listing = (name: string, description: string, ...shown: string[]): Command =>
    command(name, description, ...shown).option('--limit <n>', 'how many at most', atLeast(1), 200)

  /** `none` says that there are none, where a person reads. */
  const run = (
    slugOrKey: string,
    options: Shared,
    { find, none }: { find: (hub: Hub) => Promise<Found>; none: string },
  ): Promise<void> =>
    withHub(open, screen, async (hub) => {
      const { slug: project } = await needProject(hub, local, slugOrKey)
      const { leases, hasMore, now } = await find(hub)
      return outList(screen, options, {
        document: { project, file_reservations: leases.map(toReservation), count: leases.length },
        rows: leases,
        columns: columnsFor(screen, now),
        none: `${none} in ${project}.`,
        hasMore,
      })
    })

  listing('list', 'list reservations, the newest first', 'backend', '/srv/code/backend --no-active-only --json')
    .option('--active-only', 'only those that hold now', true)
    .option('--no-active-only', 'also reservations that expired or were released')
    .action((project: string, options: Shared & { activeOnly: boolean }) => {
      const { activeOnly, limit } = options
      return run(project, options, {
        find: (hub) => listLeases(hub, local, project, { activeOnly, limit }),
        none: activeOnly ? 'Nothing is reserved' : 'Nothing was ever reserved',
      })
    })

  listing('active', 'list the reservations that hold now', 'backend', 'backend --limit 20').action(
    (project: string, options: Shared) =>
      run(project, options, {
        find: (hub) => listLeases(hub, local, project, { activeOnly: true, limit: options.limit }),
        none: 'Nothing is reserved',
      }),
  )

  listing('soon', 'list reservations that expire soon, the next one first', 'backend', 'backend --minutes 10')
    .option('--minutes <n>', 'how soon', atLeast(1), 30)
    .action((project: string, options: Shared & { minutes: number }) => {
      const { minutes, limit } = options
      return run(project, options, {
        find: (hub) => listExpiring(hub, local, project, { withinMs: minutes * 60_000, limit }),
        none: `Nothing expires within ${minutes} min`,
      })
    })

  command(
    'release',
    'free reservations whose holder is gone; each holder gets a message',
    'backend 42',
    "backend 'src/api/*.ts' --json",
  )
    .argument('<reservations...>', 'ids, or patterns as they are listed')
    .action((project: string, called: string[], { json = false }: { json?: boolean }) =>
      withHub(open, screen, async (hub) => {
        const isId = (text: string) => /^#?\d{1,15}$/.test(text)
        const ids = called.filter(isId).map((id) => Number(id.replace('#', '')))
        const patterns = called.filter((text) => !isId(text))
        // The database is open to its operator only.
        const freed = await freeLeases(hub, operator, project, { ids, patterns }).catch(namingCommand)
        if (json) return outJson(screen, toFreed(freed))
        for (const { id, agent, pattern, told } of freed)
          await screen.out(
            `Released ${harmlessLine(pattern)} (${id}), held by ${word(agent)}${told ? '' : ', whose mailbox is full: it got no message'}.\n`,
          )
      }),
    )

  return reservations
}

/** Adds the command that lists what can be freed. */
function namingCommand(error: unknown): never {
  if (!(error instanceof HubError) || error.code !== 'NOT_FOUND') throw error
  const hint = `${error.hint} \`parley file_reservations active <project>\` shows what is reserved.`
  throw new HubError(error.code, error.message, { hint, cause: error })
}

const toFreed = (freed: readonly Freed[]) => ({
  released: freed.length,
  file_reservations: freed.map(({ id, agent, pattern, told }) => ({ id, agent, path_pattern: pattern, told })),
})

const columnsFor = ({ tty }: Screen, now: number): Columns<Lease> => ({
  id: ['right', ({ id }) => id],
  agent: ['left', ({ agent }) => word(agent)],
  pattern: ['shrinks', ({ pattern }) => pattern],
  mode: ['left', ({ exclusive }) => (exclusive ? 'exclusive' : 'shared')],
  state: ['left', (lease) => stateOf(lease, now)],
  ends: ['left', ({ expiresAt, releasedAt = expiresAt }) => endOf(Math.min(expiresAt, releasedAt), now, tty)],
  reason: ['shrinks', ({ reason }) => reason],
})

function endOf(end: number, now: number, tty: boolean): string {
  if (!tty) return iso(end)
  return end > now ? hence(end, now) : ago(end, now)
}

/** A lease that was put away when it expired counts as expired, not as released. */
function stateOf({ expiresAt, releasedAt }: Lease, now: number): 'active' | 'expired' | 'released' {
  if (releasedAt !== undefined && releasedAt < expiresAt) return 'released'
  return expiresAt > now ? 'active' : 'expired'
}
