/** `parley list-projects`: the projects and their agents. */

import type { Command } from 'commander'
import { local } from '../../core/access/callers.ts'
import { countAgents, type Profile, pageAgents } from '../../core/agents/profiles.ts'
import type { Hub } from '../../core/hub/hub.ts'
import { listProjects, type Project } from '../../core/projects/projects.ts'
import { toProfile, toProject } from '../words/profiles.ts'
import { ago, iso } from '../words/times.ts'
import { atLeast, examples, newCommand, type Open, withHub } from './commands.ts'
import { harmlessJson } from './harmless.ts'
import type { Screen } from './screen.ts'
import { table } from './tables.ts'

interface Options {
  readonly includeAgents?: boolean
  readonly json?: boolean
  readonly limit?: number
}

/** A project as it is listed: with its agents if they were asked for. */
interface Listed {
  readonly project: Project
  readonly count: number
  readonly agents: readonly Profile[] | undefined
}

export function listProjectsCommand(open: Open, screen: Screen): Command {
  return newCommand('list-projects', screen)
    .description('list the projects, in the order they were made')
    .option('--include-agents', 'with the agents of each')
    .option('--limit <n>', 'how many projects at most', atLeast(1))
    .option('--json', 'answer with JSON, for programs')
    .addHelpText('after', examples('list-projects', 'list-projects --include-agents --json'))
    .action(({ includeAgents = false, json = false, limit = Number.POSITIVE_INFINITY }: Options) =>
      withHub(open, screen, async (hub) => {
        const { listed, more } = await collect(hub, { includeAgents, limit })
        if (json) return screen.out(`${harmlessJson(toAnswer(listed, more))}\n`)
        await screen.out(includeAgents ? agentTable(hub, screen, listed) : projectTable(hub, screen, listed))
        if (more) await screen.note('There are more projects; without --limit all are shown.')
      }),
    )
}

const pageSize = 500

async function collect(
  hub: Hub,
  { includeAgents, limit }: { includeAgents: boolean; limit: number },
): Promise<{ listed: Listed[]; more: boolean }> {
  const listed: Listed[] = []
  for (let after = 0; ; ) {
    const { projects: page, hasMore } = await listProjects(hub, local, { after, limit: pageSize })
    const counts = await countAgents(hub, local, page)
    for (const project of page) {
      if (listed.length === limit) return { listed, more: true }
      const agents = includeAgents ? await allAgents(hub, project) : undefined
      listed.push({ project, agents, count: counts.get(project.id) ?? 0 })
    }
    const last = page.at(-1)
    if (last === undefined || !hasMore) return { listed, more: false }
    after = last.id
  }
}

async function allAgents(hub: Hub, { slug }: Project): Promise<Profile[]> {
  const all: Profile[] = []
  let after: string | undefined
  do {
    const { agents, next } = await pageAgents(hub, local, slug, { limit: pageSize, after })
    all.push(...agents)
    after = next
  } while (after !== undefined)
  return all
}

/** In the words of the mail door. */
const toAnswer = (listed: readonly Listed[], more: boolean) => ({
  projects: listed.map(({ project, count, agents }) => ({
    ...toProject(project),
    agent_count: count,
    ...(agents && { agents: agents.map(toProfile) }),
  })),
  count: listed.length,
  has_more: more,
})

const when = ({ clock }: Hub, { tty }: Screen, ms: number): string => (tty ? ago(ms, clock.now()) : iso(ms))

function projectTable(hub: Hub, screen: Screen, listed: readonly Listed[]): string {
  const columns = [
    { title: 'slug' },
    { title: 'key', shrinks: true },
    { title: 'agents', align: 'right' },
    { title: 'created' },
  ] as const
  const rows = listed.map(({ project: { slug, key, createdAt }, count }) => [
    slug,
    key,
    String(count),
    when(hub, screen, createdAt),
  ])
  return table(columns, rows, screen)
}

/** A line an agent; a project without any has one of its own. */
function agentTable(hub: Hub, screen: Screen, listed: readonly Listed[]): string {
  const columns = [
    { title: 'project', shrinks: true },
    { title: 'agent', shrinks: true },
    { title: 'program', shrinks: true },
    { title: 'model', shrinks: true },
    { title: 'unread', align: 'right' },
    { title: 'last active' },
  ] as const
  const rows = listed.flatMap(({ project: { slug }, agents = [] }) =>
    agents.length === 0
      ? [[slug, '', '', '', '', '']]
      : agents.map(({ name, program, model, unread, activeAt }) => [
          slug,
          name,
          program,
          model,
          String(unread),
          activeAt === 0 ? 'never' : when(hub, screen, activeAt),
        ]),
  )
  return table(columns, rows, screen)
}
