/** `parley list-projects`: the projects and their agents. */

import type { Command } from 'commander'
import { local } from '../../../core/access/callers.ts'
import { countAgents, type Profile, pageAgents } from '../../../core/agents/profiles.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { listProjects, type Project } from '../../../core/projects/projects.ts'
import { toProfile, toProject } from '../../words/profiles.ts'
import { atLeast, moreWords, newCommand, type Open, outJson, withHub, withJson } from '../commands.ts'
import { when } from '../terminal/phrases.ts'
import type { Screen } from '../terminal/screen.ts'
import { table } from '../terminal/tables.ts'

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
  const command = newCommand('list-projects', screen)
    .description('list the projects, in the order they were made')
    .option('--include-agents', 'with the agents of each')
    .option('--limit <n>', 'how many projects at most', atLeast(1))
  return withJson(command, 'list-projects', 'list-projects --include-agents --json').action(
    ({ includeAgents = false, json = false, limit = Number.POSITIVE_INFINITY }: Options) =>
      withHub(open, screen, async (hub) => {
        const { listed, more } = await collect(hub, { includeAgents, limit })
        if (json) return outJson(screen, toAnswer(listed, more))
        const time = (at: number) => when(screen, at, hub.clock.now())
        await screen.out(includeAgents ? agentTable(listed, screen, time) : projectTable(listed, screen, time))
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
  ...moreWords(more, 'There are more projects; without --limit all are shown.'),
})

type Time = (at: number) => string

const projectTable = (listed: readonly Listed[], screen: Screen, time: Time): string =>
  table(
    {
      slug: ['left', ({ project }) => project.slug],
      key: ['shrinks', ({ project }) => project.key],
      agents: ['right', ({ count }) => count],
      created: ['left', ({ project }) => time(project.createdAt)],
    },
    listed,
    screen,
  )

/** A line an agent; a project without any has one of its own. */
function agentTable(listed: readonly Listed[], screen: Screen, time: Time): string {
  const rows = listed.flatMap(({ project: { slug }, agents = [] }): { slug: string; agent?: Profile }[] =>
    agents.length === 0 ? [{ slug }] : agents.map((agent) => ({ slug, agent })),
  )
  return table(
    {
      project: ['shrinks', ({ slug }) => slug],
      agent: ['shrinks', ({ agent }) => agent?.name ?? ''],
      program: ['shrinks', ({ agent }) => agent?.program ?? ''],
      model: ['shrinks', ({ agent }) => agent?.model ?? ''],
      unread: ['right', ({ agent }) => agent?.unread ?? ''],
      'last active': [
        'left',
        ({ agent }) => (agent === undefined ? '' : agent.activeAt === 0 ? 'never' : time(agent.activeAt)),
      ],
    },
    rows,
    screen,
  )
}
